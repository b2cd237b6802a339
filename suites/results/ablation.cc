#include "suites/results/ablation.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "base/quantity.h"
#include "optimizer/stats/order.h"
#include "suites/bench/measure.h"
#include "suites/harness/asked.h"
#include "suites/harness/table.h"
#include "suites/harness/verdicts.h"
#include "suites/registry.h"
#include "suites/results/campaign.h"
#include "suites/results/choices.h"
#include "suites/results/fabrics.h"
#include "suites/results/gather_choices.h"
#include "suites/results/robust.h"
#include "suites/results/update_choices.h"

namespace stripline::suites::results {
namespace {

using experiment::Point;

constexpr const char* kModelRow = "its model";
constexpr const char* kNoneRow = "none";
constexpr const char* kWrongRows[] = {"wrong 1", "wrong 2"};
constexpr double kMostFactor = 10;

constexpr uint32_t kEmulatedRanks = 8;
constexpr uint32_t kRealRanks = 2;
constexpr uint32_t kRealRuns = 3;
constexpr uint32_t kRepetitions = 160;
constexpr uint32_t kQuickRepetitions = 40;
constexpr size_t kQuickRows = 3;

struct Problem {
  const char* table;
  Point point;
  bool on_a_node = false;
};

// What is left out has its usual value.
std::vector<Problem> problems() {
  const auto tuned = [](const char* table, const experiment::Known& kernel,
                        experiment::Params params = {}) {
    return Problem{table, {kernel.name, "tuned", std::move(params)}};
  };
  const auto reordered = [](const experiment::Known& kernel, experiment::Params params = {}) {
    return Problem{"solvers", {kernel.name, "reordered", std::move(params)}};
  };
  const auto adaptive = [](const experiment::Known& kernel, experiment::Params params) {
    return Problem{"shared-updates", {kernel.name, "adaptive", std::move(params)}, true};
  };
  return {
      tuned("updates", kernels::kHistogram, {{"updates", int64_t{1} << 14}}),
      tuned("updates", kernels::kGravitation),
      tuned("updates", kernels::kFiberForce,
            {{"n", int64_t{64}}, {"points_per_rank", int64_t{1000}}}),
      tuned("conveyors", kernels::kIndexGather, {{"reads", int64_t{1} << 14}}),
      tuned("conveyors", kernels::kPermutation, {{"elements_per_rank", int64_t{1000}}}),
      tuned("conveyors", kernels::kTriangleCount,
            {{"vertices", int64_t{1024}}, {"edges_per_vertex", int64_t{16}}}),
      tuned("indirect", kernels::kFish),
      tuned("indirect", kernels::kGuppie),
      tuned("indirect", kernels::kIndirectSum),
      tuned("indirect", kernels::kMcop),
      tuned("indirect", kernels::kStructReads),
      reordered(kernels::kSparseCg, {{"rows", int64_t{4096}}}),
      reordered(kernels::kEarthquake, {{"rows", int64_t{4096}}}),
      reordered(kernels::kMolecules),
      adaptive(kernels::kSharedHistogram, {{"updates", int64_t{1} << 16}}),
      adaptive(kernels::kSpreadForce, {{"n", int64_t{64}}, {"points", int64_t{1} << 14}}),
  };
}

// The rows of what is chosen, of a table that has cells of its own; none where nothing is selected.
Status add_chosen(const char* table, const Result<std::vector<Cell>>& cells,
                  Result<RowPoints> (*points_of)(const Cell&), std::vector<AblatedRow>& rows) {
  if (!cells.ok() && cells.error().code() == ErrorCode::invalid_argument) return {};
  if (!cells.ok()) return cells.error();
  for (const Cell& cell : *cells) {
    // Models are of a path, which is the network's here.
    if (cell.network.same_node != "network") continue;
    STRIPLINE_ASSIGN_OR_RETURN(const RowPoints points, points_of(cell));
    rows.push_back({table, {cell.network, cell.ranks, points.front().second}});
  }
  return {};
}

// By row: a model file, or none.
using Models = std::vector<std::pair<std::string, std::string>>;

Result<Models> models_of(const Options& options, const Network& network) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string own, model_file(options, network));
  STRIPLINE_ASSIGN_OR_RETURN(const Json document, read_json_file(own));
  const std::filesystem::path folder = options.path("models") / "ablation";
  std::error_code ignored;  // writing says what is wrong
  std::filesystem::create_directories(folder, ignored);
  Models models = {{kModelRow, own}, {kNoneRow, ""}};
  uint64_t seed = 0;
  for (const char* const row : kWrongRows) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json wrong, corrupted_model(document, ++seed, kMostFactor));
    const std::string file =
        (folder / (file_name(network.fabric + " " + row) + ".stripline.json")).string();
    STRIPLINE_RETURN_IF_ERROR(write_json_file(file, wrong));
    models.emplace_back(row, file);
  }
  return models;
}

Result<CellResult> measure(const Options& options, const Cell& cell) {
  STRIPLINE_ASSIGN_OR_RETURN(const Models models, models_of(options, cell.network));
  CellResult result;
  result.key = cell.key();
  result.fabric = cell.network.path();
  result.ranks = cell.ranks;
  result.problem = cell.problem_text();
  const uint32_t runs = cell.network.emulated() || options.quick ? 1 : kRealRuns;
  const experiment::StopRule rule = exactly(options.quick ? kQuickRepetitions : kRepetitions);
  for (uint32_t run = 1; run <= runs; ++run) {
    for (const auto& [row, model] : models) {
      STRIPLINE_ASSIGN_OR_RETURN(
          const auto series, bench::measure_run(target_of(options, cell.network, cell.ranks, model),
                                                run, rule, {cell.problem}));
      STRIPLINE_RETURN_IF_ERROR(check_verified(series));
      if (series.front().values.empty()) {
        return Error(ErrorCode::failed_precondition, result.key + ": " + series.front().note);
      }
      result.times[row].push_back(steady_time(series.front()));
      result.plans[row] = series.front().note;
    }
  }
  return result;
}

// Times of a row over those without a model, of the runs.
struct Ratio {
  double median = 1;
  double lowest = 1;
};

Ratio ratio_to_none(const CellResult& result, const std::string& row) {
  const std::vector<double>& times = result.times.at(row);
  const std::vector<double>& none = result.times.at(kNoneRow);
  std::vector<double> ratios;
  for (size_t run = 0; run < times.size(); ++run) ratios.push_back(times[run] / none[run]);
  return {stats::median(ratios), std::ranges::min(ratios)};
}

std::string verdict(const Ratio& ratio) {
  if (ratio.median <= asked::kWrongModel) return met(true);
  return ratio.lowest > asked::kWrongModel ? met(false) : "INCONCLUSIVE";
}

}  // namespace

Result<std::vector<AblatedRow>> ablated_rows(const Options& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Network> all, networks(options, true));
  std::vector<AblatedRow> rows;
  for (const Network& network : all) {
    for (Problem& problem : problems()) {
      if (problem.on_a_node && network.emulated()) continue;
      const experiment::Experiment& declaration =
          find_benchmark(problem.point.experiment)->declaration;
      if (const auto refused = experiment::complete_point(declaration, problem.point)) {
        return Error(ErrorCode::internal, problem.point.experiment + ": " + *refused);
      }
      rows.push_back({problem.table,
                      {network.emulated() ? declared(network) : network,
                       network.emulated() ? kEmulatedRanks : kRealRanks, problem.point}});
    }
  }
  std::erase_if(rows, [&](const AblatedRow& row) {
    return row.cell.key().find(options.cells) == std::string::npos;
  });
  if (options.quick && rows.size() > kQuickRows) rows.resize(kQuickRows);
  STRIPLINE_RETURN_IF_ERROR(add_chosen("update-choices", update_cells(options), update_rows, rows));
  STRIPLINE_RETURN_IF_ERROR(add_chosen("gather-choices", gather_cells(options), gather_rows, rows));
  if (!rows.empty()) return rows;
  std::vector<std::string> names;
  for (const Network& network : all) names.push_back(network.fabric);
  return no_such_cell(options, names);
}

std::string ablation_tables(const std::vector<AblatedRow>& rows,
                            const std::vector<CellResult>& results) {
  struct Group {
    Ratios with;
    Ratios wrong;
    size_t above = 0;
  };
  std::map<std::string, Group> groups;
  Table details({"table", "network", ">ranks", "problem", ">with its model", ">without",
                 ">with a wrong one", ">model / none", ">wrong / none", "criterion"});
  for (size_t i = 0; i < rows.size(); ++i) {
    const CellResult& result = results[i];
    const Ratio with = ratio_to_none(result, kModelRow);
    std::string worst_row = kWrongRows[0];
    for (const char* const row : kWrongRows) {
      if (ratio_to_none(result, row).median > ratio_to_none(result, worst_row).median) {
        worst_row = row;
      }
    }
    const Ratio wrong = ratio_to_none(result, worst_row);
    const auto time = [&](const std::string& row) {
      return seconds_text(stats::median(result.times.at(row)));
    };
    details.add({rows[i].table, result.fabric, std::to_string(result.ranks), result.problem,
                 time(kModelRow), time(kNoneRow), time(worst_row), ratio_text(with.median),
                 ratio_text(wrong.median), verdict(wrong)});
    for (const std::string& name : {rows[i].table, std::string("all")}) {
      Group& group = groups[name];
      group.with.add(with.median, result.key);
      group.wrong.add(wrong.median, result.key);
      if (wrong.lowest > asked::kWrongModel) ++group.above;
    }
  }
  Table summary({"table", ">rows", ">model / none", ">wrong / none", ">worst", "worst row",
                 ">slower by more than " + percent(asked::kWrongModel - 1, 0)});
  for (const auto& [name, group] : groups) {
    summary.add({name, std::to_string(group.with.count), ratio_text(group.with.mean()),
                 ratio_text(group.wrong.mean()), ratio_text(group.wrong.worst),
                 group.wrong.worst_name, std::to_string(group.above)});
  }
  return summary.text() + "\n" + details.text();
}

Status print_ablation(const Options& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<AblatedRow> rows, ablated_rows(options));
  std::vector<Cell> cells;
  for (const AblatedRow& row : rows) cells.push_back(row.cell);
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::vector<CellResult> results,
      kept_or_measured(options, "ablation", cells, "ablation.jsonl", {},
                       [&options](const Cell& cell) { return measure(options, cell); }));
  std::printf(
      "Times of rows of other tables, after warm-up (the second half of %u repetitions): with the "
      "model of a full campaign on the network, without one, and with that model after each "
      "parameter was multiplied by a factor from 1/%.0f to %.0f, the slower of two. Guards are on. "
      "Means of ratios are geometric. Criterion: with a wrong model at most %s slower than without "
      "one (INCONCLUSIVE: not in each of the runs).\n\n%s",
      options.quick ? kQuickRepetitions : kRepetitions, kMostFactor, kMostFactor,
      percent(asked::kWrongModel - 1, 0).c_str(), ablation_tables(rows, results).c_str());
  return {};
}

}  // namespace stripline::suites::results
