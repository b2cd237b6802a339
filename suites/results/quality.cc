#include "suites/results/quality.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>
#include <variant>

#include "suites/bench/failure.h"
#include "suites/bench/measure.h"
#include "suites/bench/progress.h"
#include "suites/bench/rows.h"
#include "suites/bench/search.h"
#include "suites/kernels/candidates.h"
#include "suites/kernels/nas_variants.h"
#include "suites/registry.h"
#include "suites/results/campaign.h"
#include "suites/results/json_lines.h"
#include "suites/results/overlap.h"
#include "suites/results/quality_summary.h"

namespace stripline::suites::results {
namespace {

using experiment::Point;

constexpr uint32_t kConfirmingRuns = 12;
// Where runs and repetitions differ by the profile's jitter only.
constexpr uint32_t kConfirmingRunsWithoutHost = 6;
constexpr uint32_t kMostRepsWithoutHost = 2;
constexpr uint32_t kQuickRuns = 2;
constexpr uint32_t kRounds = 3;  // so that a slow drift of the machine meets all rows
constexpr double kQuickSearchS = 1;
constexpr uint32_t kFewRanks = 4;
constexpr double kPointBudgetS = 0.02;  // per row, round and run
constexpr uint32_t kMostReps = 30;

// One run of all rows, by row.
using RowPoints = std::vector<std::pair<std::string, Point>>;

RowPoints row_points(const Point& problem, const Point& by_hand, const Point& best) {
  const std::vector<std::string>& variants =
      find_benchmark(problem.experiment)->declaration.variants;
  const bool has_hand = std::ranges::find(variants, "hand") != variants.end();
  RowPoints rows;
  for (const std::string row : kRows) {
    rows.emplace_back(row, row == "best" ? best : row == "hand_t" ? by_hand : problem);
    if (row == "best" || row == "hand_t") continue;
    const bool strided = problem.params.contains(kMethodFactor);
    rows.back().second.variant = row == "hand4" && strided    ? "packed"
                                 : row == "hand" && !has_hand ? "blocking"
                                                              : row;
  }
  return rows;
}

bench::Target target_of(const Options& options, const Cell& cell, const std::string& model) {
  bench::Target target;
  target.fabric = cell.network.fabric;
  target.clock = cell.network.clock;
  target.ranks = cell.ranks;
  target.model_path = model;
  target.seed = 1;
  target.worker = options.worker;
  // All ranks' segments are memory of this host.
  target.segment_bytes = cell.ranks > kFewRanks ? "16M" : "64M";
  target.cancel_fd = options.cancel_fd;
  return target;
}

}  // namespace

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
  for (const char* row : names) {
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

Result<CellResult> measure_cell(const Options& options, const Cell& cell,
                                const std::string& model) {
  const bench::Target target = target_of(options, cell, model);
  bench::Progress progress;
  const double budget_s = options.quick ? kQuickSearchS : options.search_budget_s;
  STRIPLINE_ASSIGN_OR_RETURN(const auto candidates, search_candidates(cell.problem, cell.ranks));
  auto swept = bench::find_best_plan(target, hand_swept(candidates), budget_s, progress);
  if (const auto* failure = std::get_if<bench::Failure>(&swept)) return error_of(*failure);
  const auto by_hand = std::get<bench::BestPlan>(std::move(swept));
  auto searched = bench::find_best_plan(target, candidates, budget_s, progress);
  if (const auto* failure = std::get_if<bench::Failure>(&searched)) return error_of(*failure);
  const auto best = std::get<bench::BestPlan>(std::move(searched));

  const RowPoints rows = row_points(cell.problem, by_hand.point, best.point);
  std::vector<Point> points;
  for (const auto& [row, point] : rows) {
    // Two rows may be the same plan.
    if (std::ranges::find(points, point) == points.end()) points.push_back(point);
  }
  std::vector<Point> repeated;
  for (uint32_t round = 0; round < kRounds; ++round) {
    repeated.insert(repeated.end(), points.begin(), points.end());
  }
  experiment::StopRule rule;
  rule.min_reps = 1;
  const bool by_host = bench::depends_on_host(target);
  rule.max_reps = by_host ? kMostReps : kMostRepsWithoutHost;
  rule.time_budget_s = kPointBudgetS;

  bench::Samples samples(points);
  const uint32_t runs = options.quick ? kQuickRuns
                        : by_host     ? kConfirmingRuns
                                      : kConfirmingRunsWithoutHost;
  for (uint32_t run = 1; run <= runs; ++run) {
    progress.show(cell.key() + ": run " + std::to_string(run) + " of " + std::to_string(runs));
    STRIPLINE_ASSIGN_OR_RETURN(const auto series, bench::measure_run(target, run, rule, repeated));
    samples.add(series);
    if (const auto failure = samples.check()) return error_of(*failure);
  }

  CellResult result;
  result.key = cell.key();
  result.fabric = cell.network.fabric;
  result.ranks = cell.ranks;
  result.problem = cell.problem_text();
  result.candidates = best.candidates;
  for (const auto& [row, point] : rows) {
    const bench::PointSamples& measured = *samples.find(point);
    result.plans[row] = measured.plan();
    for (const auto& [run, median] : measured.medians()) result.times[row].push_back(median);
  }
  return result;
}

namespace {

Status print_cells(const Options& options, CellKind kind, const char* records_file) {
  STRIPLINE_RETURN_IF_ERROR(check_models(options));
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Cell> cells, quality_cells(options, kind));
  if (cells.empty()) {
    return Error(ErrorCode::invalid_argument, "there are no cells of many ranks on '" +
                                                  options.only +
                                                  "'; they are of emulated networks");
  }
  std::set<std::string> asked;
  for (const Cell& cell : cells) asked.insert(cell.key());

  const std::filesystem::path file = options.path(records_file);
  std::vector<CellResult> results;
  std::set<std::string> done;
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Json> records, read_json_lines(file));
  for (const Json& record : records) {
    STRIPLINE_ASSIGN_OR_RETURN(CellResult result, cell_result_from_json(record));
    // The file may hold cells of other networks, and ones that are no longer judged on.
    if (!asked.contains(result.key)) continue;
    done.insert(result.key);
    results.push_back(std::move(result));
  }
  for (size_t i = 0; i < cells.size(); ++i) {
    if (done.contains(cells[i].key())) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const std::string model, model_file(options, cells[i].network));
    std::fprintf(stderr, "quality: cell %zu of %zu: %s\n", i + 1, cells.size(),
                 cells[i].key().c_str());
    STRIPLINE_ASSIGN_OR_RETURN(CellResult result, measure_cell(options, cells[i], model));
    STRIPLINE_RETURN_IF_ERROR(append_json_line(file, to_json(result)));
    results.push_back(std::move(result));
  }

  // What each network offers, from the campaign that its model was fitted from.
  std::map<std::string, double> hidden;
  for (const Cell& cell : cells) {
    const Network& network = cell.network;
    if (options.models.contains(network.fabric) || hidden.contains(network.fabric)) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const auto series, load_or_measure(options, network));
    hidden[network.fabric] = largest_hidden_share(hidden_share(series, "get"));
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, quality_tables(results, hidden));
  std::fputs(text.c_str(), stdout);
  return {};
}

}  // namespace

Status print_quality(const Options& options) {
  return print_cells(options, CellKind::few_ranks, "quality.jsonl");
}

Status print_scale(const Options& options) {
  return print_cells(options, CellKind::many_ranks, "scale.jsonl");
}

}  // namespace stripline::suites::results
