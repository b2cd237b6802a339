#include "suites/results/cell_result.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <set>

#include "optimizer/stats/order.h"
#include "suites/bench/failure.h"
#include "suites/bench/progress.h"
#include "suites/bench/rows.h"
#include "suites/harness/table.h"

namespace stripline::suites::results {
namespace {

using experiment::Point;

constexpr uint32_t kRuns = 12;
// Where runs and repetitions differ by the profile's jitter only.
constexpr uint32_t kRunsWithoutHost = 6;
constexpr uint32_t kMostRepsWithoutHost = 2;
constexpr uint32_t kQuickRuns = 2;
constexpr uint32_t kRounds = 3;  // so that a slow drift of the machine meets all rows
constexpr uint32_t kRoundsWithGuards = 4 * kRounds;
constexpr uint32_t kRoundsWithoutHost = 12 * kRounds;  // of few repetitions each
constexpr uint32_t kFewRanks = 4;
constexpr double kPointBudgetS = 0.02;  // per row, round and run
constexpr uint32_t kMostReps = 30;

// What is found out while it runs.
bool has_guards(const Point& point) {
  return point.variant == kGuardedRow || experiment::text_param(point, "method") == "automatic";
}

}  // namespace

std::vector<Point> in_rounds(const std::vector<Point>& points, const bench::Target& target) {
  const uint32_t rounds = bench::depends_on_host(target) ? kRoundsWithGuards : kRoundsWithoutHost;
  std::vector<Point> repeated;
  for (const Point& point : points) {
    repeated.insert(repeated.end(), has_guards(point) ? rounds : kRounds, point);
  }
  return repeated;
}

std::vector<experiment::SampleSeries> settled(std::vector<experiment::SampleSeries> series) {
  const auto is_left = [](const experiment::SampleSeries& one) {
    return !has_guards(one.point) || one.timestamps_s.empty();
  };
  std::map<std::string, std::vector<experiment::SampleSeries>> guarded;
  std::vector<experiment::SampleSeries> kept;
  for (experiment::SampleSeries& one : series) {
    auto& into = is_left(one) ? kept : guarded[experiment::point_key(one.point)];
    into.push_back(std::move(one));
  }
  for (auto& [key, rounds] : guarded) {
    std::ranges::sort(rounds, {}, [](const auto& one) { return one.timestamps_s.front(); });
    const size_t first = rounds.size() - std::min<size_t>(rounds.size(), kRounds);
    std::move(rounds.begin() + static_cast<std::ptrdiff_t>(first), rounds.end(),
              std::back_inserter(kept));
  }
  return kept;
}

experiment::StopRule rule_without_host() {
  experiment::StopRule rule;
  rule.min_reps = 1;
  rule.max_reps = kMostRepsWithoutHost;
  rule.time_budget_s = kPointBudgetS;
  return rule;
}

experiment::StopRule exactly(uint32_t repetitions) {
  experiment::StopRule rule;
  rule.min_reps = repetitions;
  rule.max_reps = repetitions;
  rule.time_budget_s = 1e6;  // on whichever clock
  return rule;
}

double steady_time(const experiment::SampleSeries& series) {
  return stats::median(std::span(series.values).subspan(series.values.size() / 2));
}

Json to_json(const CellResult& cell) {
  Json rows = Json::object();
  for (const auto& [row, times] : cell.times) {
    rows[row] = {{"run_medians_s", times}, {"plan", cell.plans.at(row)}};
  }
  return {{"cell", cell.key},        {"fabric", cell.fabric},   {"ranks", cell.ranks},
          {"problem", cell.problem}, {"rows", std::move(rows)}, {"candidates", cell.candidates}};
}

Result<CellResult> cell_result_from_json(const Json& json, std::span<const char* const> names) {
  CellResult cell;
  STRIPLINE_ASSIGN_OR_RETURN(cell.key, get_string(json, "cell", "quality"));
  STRIPLINE_ASSIGN_OR_RETURN(cell.fabric, get_string(json, "fabric", "quality"));
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t ranks, get_integer(json, "ranks", "quality"));
  cell.ranks = static_cast<uint32_t>(ranks);
  STRIPLINE_ASSIGN_OR_RETURN(cell.problem, get_string(json, "problem", "quality"));
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t candidates, get_integer(json, "candidates", "quality"));
  cell.candidates = static_cast<size_t>(candidates);
  STRIPLINE_ASSIGN_OR_RETURN(const Json* rows, get_object(json, "rows", "quality"));
  std::set<std::string> all(names.begin(), names.end());
  for (const auto& [row, values] : rows->items()) all.insert(row);
  for (const std::string& row : all) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json* one, get_object(*rows, row, "quality.rows"));
    STRIPLINE_ASSIGN_OR_RETURN(cell.plans[row], get_string(*one, "plan", "quality.rows"));
    STRIPLINE_ASSIGN_OR_RETURN(const Json* times, get_array(*one, "run_medians_s", "quality.rows"));
    for (const Json& time : *times) {
      if (!time.is_number()) {
        return Error(ErrorCode::data_loss,
                     "quality.rows: run_medians_s holds something else "
                     "than numbers; remove that line and measure it again");
      }
      cell.times[row].push_back(time.get<double>());
    }
  }
  return cell;
}

Result<std::vector<CellResult>> kept_or_measured(
    const Options& options, const std::string& command, const std::vector<Cell>& cells,
    const std::string& file, std::span<const char* const> rows,
    const std::function<Result<CellResult>(const Cell&)>& measure) {
  const auto parse = [rows](const Json& json) { return cell_result_from_json(json, rows); };
  STRIPLINE_ASSIGN_OR_RETURN(KeptCells kept, KeptCells::open(options.path(file), parse));
  std::vector<CellResult> results;
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto measure_it = [&] {
      std::fprintf(stderr, "%s: cell %zu of %zu: %s\n", command.c_str(), i + 1, cells.size(),
                   cells[i].key().c_str());
      return measure(cells[i]);
    };
    STRIPLINE_ASSIGN_OR_RETURN(CellResult result, kept.get(cells[i].key(), measure_it));
    results.push_back(std::move(result));
  }
  return results;
}

std::map<std::string, std::vector<CellResult>> by_fabric(const std::vector<CellResult>& cells) {
  std::map<std::string, std::vector<CellResult>> groups;
  for (const CellResult& cell : cells) groups[cell.fabric].push_back(cell);
  return groups;
}

Result<stats::GeometricMean> mean_ratio(const std::vector<CellResult>& cells,
                                        const std::string& row, const std::string& baseline) {
  std::vector<std::vector<double>> logs;
  for (const CellResult& cell : cells) {
    STRIPLINE_ASSIGN_OR_RETURN(
        logs.emplace_back(), stats::paired_log_ratios(cell.times.at(row), cell.times.at(baseline)));
  }
  return stats::geometric_mean(logs);
}

std::string share_text(const std::map<std::string, double>& by_fabric, const std::string& fabric) {
  const auto found = by_fabric.find(fabric);
  return percent(found == by_fabric.end() ? std::nan("") : found->second, 0);
}

bench::Target target_of(const Options& options, const Network& network, uint32_t ranks,
                        const std::string& model) {
  bench::Target target;
  target.fabric = network.fabric;
  target.clock = network.clock;
  target.same_node = network.same_node;
  target.ranks = ranks;
  target.model_path = model;
  target.seed = 1;
  target.worker = options.worker;
  // All ranks' segments are memory of this host.
  target.segment_bytes = ranks > kFewRanks ? "16M" : "64M";
  target.cancel_fd = options.cancel_fd;
  return target;
}

Result<CellResult> measure_rows(const Options& options, const Cell& cell, const std::string& model,
                                const RowPoints& rows, std::optional<uint32_t> asked_runs) {
  const bench::Target target = target_of(options, cell.network, cell.ranks, model);
  std::vector<Point> points;
  for (const auto& [row, point] : rows) {
    if (std::ranges::find(points, point) == points.end()) points.push_back(point);
  }
  const bool by_host = bench::depends_on_host(target);
  const std::vector<Point> repeated = in_rounds(points, target);
  experiment::StopRule rule = rule_without_host();
  // With many ranks a repetition is a turn of each.
  if (by_host && cell.ranks <= kFewRanks) rule.max_reps = kMostReps;

  bench::Progress progress;
  bench::Samples samples(points);
  const uint32_t runs = asked_runs.value_or(options.quick ? kQuickRuns
                                            : by_host     ? kRuns
                                                          : kRunsWithoutHost);
  for (uint32_t run = 1; run <= runs; ++run) {
    progress.show(cell.key() + ": run " + std::to_string(run) + " of " + std::to_string(runs));
    STRIPLINE_ASSIGN_OR_RETURN(auto series, bench::measure_run(target, run, rule, repeated));
    samples.add(settled(std::move(series)));
    if (const auto failure = samples.check()) return error_of(*failure);
  }

  CellResult result;
  result.key = cell.key();
  result.fabric = cell.network.path();
  result.ranks = cell.ranks;
  result.problem = cell.problem_text();
  for (const auto& [row, point] : rows) {
    const bench::PointSamples& measured = *samples.find(point);
    result.plans[row] = measured.plan();
    for (const auto& [run, median] : measured.medians()) result.times[row].push_back(median);
  }
  return result;
}

}  // namespace stripline::suites::results
