#include "suites/results/load.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "optimizer/model/model_json.h"
#include "optimizer/stats/compare.h"
#include "optimizer/stats/order.h"
#include "suites/bench/failure.h"
#include "suites/bench/progress.h"
#include "suites/bench/rows.h"
#include "suites/bench/search.h"
#include "suites/harness/table.h"
#include "suites/kernels/candidates.h"
#include "suites/registry.h"
#include "suites/results/campaign.h"
#include "suites/results/cell_result.h"

namespace stripline::suites::results {
namespace {

using experiment::Point;
using experiment::SampleSeries;

constexpr uint64_t kLoadSeed = 2;
constexpr uint32_t kRunsOfStreams = 6;
constexpr uint32_t kRunsOfCell = 6;
constexpr uint32_t kQuickRunsOfCell = 2;
constexpr uint32_t kRounds = 3;
constexpr double kPointBudgetS = 0.02;
constexpr uint32_t kMostReps = 2;  // they differ by jitter only

// "estimate", "none": the tuned plan with service levels and without.
constexpr const char* kRowsOfLoad[] = {"blocking", "hand", "estimate", "none", "best"};

// Networks whose nodes share links: whole messages first come, first served, and packets that wait
// for room in switches.
std::vector<Network> congested() {
  std::vector<Network> networks;
  for (const char* fabric : {"emulated:congested-tree", "emulated:small-buffer-tree"}) {
    networks.push_back(declared({.fabric = fabric, .clock = "virtual"}));
  }
  return networks;
}

uint32_t most_ranks(bool quick) { return quick ? 8 : 64; }

std::vector<Point> load_points(uint32_t ranks) {
  experiment::Experiment declaration = find_benchmark(micro::kLoad.name)->declaration;
  for (experiment::Factor& factor : declaration.factors) {
    // The tree tells its switches.
    if (factor.name == "scale") factor.values = {std::string("switches")};
    if (factor.name != factor::kNodes) continue;
    std::erase_if(factor.values, [&](const experiment::ParamValue& value) {
      return std::get<int64_t>(value) > int64_t{ranks};
    });
  }
  std::vector<Point> points;
  append_points(declaration, points);
  return points;
}

struct Models {
  std::string with_levels;
  std::string without;
};

Result<Models> models_of(const Options& options, const Network& network) {
  const std::filesystem::path folder = options.path("models");
  const std::string name = file_name(network.fabric);
  const Models models{(folder / (name + "-estimate.stripline.json")).string(),
                      (folder / (name + "-none.stripline.json")).string()};
  const std::filesystem::path streams_folder = options.path("campaigns") / (name + "-load");
  if (std::filesystem::exists(models.with_levels) && std::filesystem::exists(models.without)) {
    return models;
  }
  STRIPLINE_ASSIGN_OR_RETURN(std::vector<SampleSeries> series, load_or_measure(options, network));
  const uint32_t ranks = most_ranks(options.quick);
  STRIPLINE_ASSIGN_OR_RETURN(std::vector<SampleSeries> streams,
                             load_or_measure_runs(options, network, kLoadSeed, streams_folder,
                                                  load_points(ranks), kRunsOfStreams, ranks));
  std::move(streams.begin(), streams.end(), std::back_inserter(series));
  STRIPLINE_ASSIGN_OR_RETURN(fit::Fit fitted, fit_network(network, series));
  if (!fitted.model.service_levels) {
    return Error(ErrorCode::failed_precondition, "no service levels could be fitted; remove '" +
                                                     streams_folder.string() +
                                                     "' and measure again");
  }
  std::error_code ignored;  // saving says what is wrong
  std::filesystem::create_directories(folder, ignored);
  STRIPLINE_RETURN_IF_ERROR(model::save_model(fitted.model, models.with_levels));
  fitted.model.service_levels.reset();
  STRIPLINE_RETURN_IF_ERROR(model::save_model(fitted.model, models.without));
  return models;
}

std::vector<Cell> load_cells(const Network& network, bool quick) {
  const auto cell = [&](uint32_t ranks, const char* kernel, experiment::Params params) {
    Cell one{network, ranks, {kernel, "hand", std::move(params)}};
    experiment::complete_point(find_benchmark(kernel)->declaration, one.problem);
    return one;
  };
  const std::string small = "S";
  std::vector<Cell> cells = {cell(4, kernels::kNasFt.name, {{"class", small}})};
  if (quick) return cells;
  cells.push_back(cell(4, kernels::kTranspose.name, {{"n", int64_t{512}}}));
  cells.push_back(cell(16, kernels::kNasFt.name, {{"class", small}}));
  cells.push_back(cell(16, kernels::kTranspose.name, {{"n", int64_t{1024}}}));
  cells.push_back(cell(16, kernels::kPrkTranspose.name, {}));
  cells.push_back(cell(64, kernels::kNasFt.name, {{"class", small}}));
  cells.push_back(cell(64, kernels::kTranspose.name, {{"n", int64_t{1024}}}));
  cells.push_back(cell(64, kernels::kTranspose.name, {{"n", int64_t{2048}}}));
  return cells;
}

Result<CellResult> measure(const Options& options, const Cell& cell, const Models& models) {
  bench::Target target = target_of(options, cell.network, cell.ranks, models.with_levels);
  bench::Progress progress;
  STRIPLINE_ASSIGN_OR_RETURN(const auto candidates, search_candidates(cell.problem, cell.ranks));
  auto searched = bench::find_best_plan(target, candidates,
                                        options.quick ? 1 : options.search_budget_s, progress);
  if (const auto* failure = std::get_if<bench::Failure>(&searched)) return error_of(*failure);
  const auto best = std::get<bench::BestPlan>(std::move(searched));

  Point tuned = cell.problem;
  tuned.variant = "tuned";
  Point blocking = cell.problem;
  blocking.variant = "blocking";
  std::vector<Point> rows{cell.problem, tuned, blocking};
  if (std::ranges::find(rows, best.point) == rows.end()) rows.push_back(best.point);
  std::vector<Point> repeated;
  for (uint32_t round = 0; round < kRounds; ++round) {
    repeated.insert(repeated.end(), rows.begin(), rows.end());
  }
  experiment::StopRule rule;
  rule.min_reps = 1;
  rule.max_reps = kMostReps;
  rule.time_budget_s = kPointBudgetS;
  bench::Samples estimated(rows);
  bench::Samples alone({tuned});
  const uint32_t runs = options.quick ? kQuickRunsOfCell : kRunsOfCell;
  for (uint32_t run = 1; run <= runs; ++run) {
    progress.show(cell.key() + ": run " + std::to_string(run) + " of " + std::to_string(runs));
    target.model_path = models.with_levels;
    STRIPLINE_ASSIGN_OR_RETURN(const auto with, bench::measure_run(target, run, rule, repeated));
    estimated.add(with);
    if (const auto failure = estimated.check()) return error_of(*failure);
    target.model_path = models.without;
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto none, bench::measure_run(target, run, rule, std::vector<Point>(kRounds, tuned)));
    alone.add(none);
    if (const auto failure = alone.check()) return error_of(*failure);
  }
  CellResult result;
  result.key = cell.key();
  result.fabric = cell.network.fabric;
  result.ranks = cell.ranks;
  result.problem = cell.problem_text();
  result.candidates = best.candidates;
  const std::pair<const char*, const bench::PointSamples*> measured[] = {
      {"blocking", estimated.find(blocking)},
      {"hand", estimated.find(cell.problem)},
      {"estimate", estimated.find(tuned)},
      {"none", alone.find(tuned)},
      {"best", estimated.find(best.point)}};
  for (const auto& [row, samples] : measured) {
    result.plans[row] = samples->plan();
    for (const auto& [run, median] : samples->medians()) result.times[row].push_back(median);
  }
  return result;
}

Result<std::string> ratio_text(const CellResult& cell, const char* of, const char* to) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto ratio,
                             stats::paired_ratio(cell.times.at(of), cell.times.at(to)));
  return bounded(ratio.value, ratio.interval.low, ratio.interval.high);
}

Result<std::string> table_of(const std::vector<CellResult>& cells) {
  Table table({"network", ">ranks", "problem", ">blocking", ">HAND / blocking",
               ">with estimate / blocking", ">with estimate / HAND", ">without / HAND",
               ">best / HAND", ">with / without", "plan with estimate", "plan without",
               "best plan"});
  for (const CellResult& cell : cells) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string hand, ratio_text(cell, "hand", "blocking"));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string gain, ratio_text(cell, "estimate", "blocking"));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string with, ratio_text(cell, "estimate", "hand"));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string without, ratio_text(cell, "none", "hand"));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string best, ratio_text(cell, "best", "hand"));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string both, ratio_text(cell, "estimate", "none"));
    table.add({cell.fabric, std::to_string(cell.ranks), cell.problem,
               with_unit(stats::median(cell.times.at("blocking")), "s"), hand, gain, with, without,
               best, both, cell.plans.at("estimate"), cell.plans.at("none"),
               cell.plans.at("best")});
  }
  return table.text();
}

}  // namespace

Status print_load(const Options& options) {
  std::vector<CellResult> results;
  for (const Network& network : congested()) {
    STRIPLINE_ASSIGN_OR_RETURN(const Models models, models_of(options, network));
    STRIPLINE_ASSIGN_OR_RETURN(const std::vector<CellResult> measured,
                               kept_or_measured(options, "load", load_cells(network, options.quick),
                                                "load.jsonl", kRowsOfLoad, [&](const Cell& cell) {
                                                  return measure(options, cell, models);
                                                }));
    results.insert(results.end(), measured.begin(), measured.end());
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, table_of(results));
  std::printf("Ratios of times in paired runs, 95 %% intervals.\n\n%s", text.c_str());
  return {};
}

}  // namespace stripline::suites::results
