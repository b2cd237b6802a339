#include "suites/results/analysis.h"

#include <algorithm>
#include <cstdio>

#include "optimizer/stats/order.h"
#include "runtime/fabric/emulated/profile.h"
#include "suites/bench/failure.h"
#include "suites/bench/rows.h"
#include "suites/harness/asked.h"
#include "suites/harness/table.h"
#include "suites/registry.h"
#include "suites/results/campaign.h"
#include "suites/results/cells.h"
#include "suites/results/fabrics.h"
#include "suites/results/quality.h"

namespace stripline::suites::results {
namespace {

using experiment::Point;

constexpr const char* kExperiment = kernels::kAnalysis.name;
constexpr uint32_t kRuns = 5;
constexpr uint32_t kQuickRuns = 2;
constexpr uint32_t kRanksOfProcessors = 2;
constexpr uint32_t kEmulatedRanks = 4;
// So that runs take some tenths of a second, or seconds.
constexpr int64_t kLongRepetitions = 10;
constexpr int64_t kShortRepetitions = 200;

// BT and SP are for a square of ranks; on so few processors that is one, which has no network.
bool needs_square(const std::string& kernel) {
  return kernel == kernels::kNasBt.name || kernel == kernels::kNasSp.name;
}

// True if a repetition takes some tens of milliseconds, rather than a few.
bool is_long(const std::string& kernel) {
  return needs_square(kernel) || kernel == kernels::kNasCg.name || kernel == kernels::kNasFt.name;
}

std::vector<Cell> cells_on(const Network& network, bool quick) {
  const experiment::Experiment& declaration = find_benchmark(kExperiment)->declaration;
  std::vector<Cell> cells;
  for (const experiment::ParamValue& value : declaration.factors.front().values) {
    const std::string kernel = std::get<std::string>(value);
    if (!network.emulated() && needs_square(kernel)) continue;
    const int64_t repetitions = quick ? 4 : is_long(kernel) ? kLongRepetitions : kShortRepetitions;
    Cell cell{network, network.emulated() ? kEmulatedRanks : kRanksOfProcessors,
              Point{kExperiment, "run", {{"kernel", kernel}, {"repetitions", repetitions}}}};
    cells.push_back(std::move(cell));
    if (quick) break;
  }
  return cells;
}

// How much slower than the host's the CPUs of an emulated network are.
Result<double> compute_scale(const std::string& fabric) {
  const std::string prefix = "emulated:";
  if (!fabric.starts_with(prefix)) return 1.0;
  const std::string profile = fabric.substr(prefix.size(), fabric.find(',') - prefix.size());
  STRIPLINE_ASSIGN_OR_RETURN(const auto parsed,
                             fabric::parse_profile(fabric::builtin_profile_text(profile), profile));
  return parsed.compute_scale;
}

// Fresh ranks for each row of each run: what one has planned, the other would know.
Result<CellResult> measure(const Options& options, const Cell& cell) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string model, model_file(options, cell.network));
  const bench::Target target = target_of(options, cell.network, cell.ranks, model);
  CellResult result;
  result.key = cell.key();
  result.fabric = cell.network.fabric;
  result.ranks = cell.ranks;
  result.problem = cell.problem_text();
  const experiment::StopRule rule{.min_reps = 1, .max_reps = 1};
  for (const std::string row : kRowsOfAnalysis) {
    Point point = cell.problem;
    point.variant = row;
    bench::Samples samples({point});
    for (uint32_t run = 1; run <= (options.quick ? kQuickRuns : kRuns); ++run) {
      STRIPLINE_ASSIGN_OR_RETURN(const auto series, bench::measure_run(target, run, rule, {point}));
      samples.add(series);
      if (const auto failure = samples.check()) return error_of(*failure);
    }
    result.plans[row] = samples.points().front().plan();
    for (const auto& [run, seconds] : samples.points().front().medians()) {
      result.times[row].push_back(seconds);
    }
  }
  return result;
}

}  // namespace

Result<std::string> analysis_table(const std::vector<CellResult>& cells,
                                   const std::map<std::string, double>& hidden) {
  Table table({"network", ">hidden share of a get", ">ranks", "kernel", "decisions",
               ">analysis on this host", ">run", ">share", ">share, were the CPU as slow",
               "criterion"});
  double most = 0;
  size_t within = 0;
  for (const CellResult& cell : cells) {
    STRIPLINE_ASSIGN_OR_RETURN(const double scale, compute_scale(cell.fabric));
    const double analysis_s = *std::ranges::min_element(cell.times.at("analysis"));
    const double run_s = stats::median(cell.times.at("run"));
    const double share = scale * analysis_s / run_s;
    most = std::max(most, share);
    if (share < asked::kAnalysisShare) ++within;
    table.add({cell.fabric, share_text(hidden, cell.fabric), std::to_string(cell.ranks),
               cell.problem.substr(cell.problem.find(':') + 2), cell.plans.at("analysis"),
               with_unit(analysis_s, "s"), with_unit(run_s, "s"), percent(analysis_s / run_s, 3),
               percent(share, 3),
               "less than " + percent(asked::kAnalysisShare, 1) + ": " +
                   met(share < asked::kAnalysisShare)});
  }
  return "Of the rank that takes longest; the median over runs of fresh ranks of what a run takes, "
         "and the "
         "least of what is spent on deciding in one, to which interruptions of the host only add. "
         "Loops are "
         "those of rank 0 in the last run. Were its CPU as much slower than this host's as the "
         "network's profile says, the share would be less than " +
         percent(asked::kAnalysisShare, 1) + " in " + std::to_string(within) + " of " +
         std::to_string(cells.size()) + " kernels; the largest is " + percent(most, 3) + ".\n\n" +
         table.text();
}

Status print_analysis(const Options& options) {
  STRIPLINE_RETURN_IF_ERROR(check_models(options));
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Network> chosen, networks(options, true, {"shm"}));
  std::vector<Cell> cells;
  for (const Network& network : chosen) {
    for (Cell& cell : cells_on(network.emulated() ? declared(network) : network, options.quick)) {
      cells.push_back(std::move(cell));
    }
  }
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::vector<CellResult> results,
      kept_or_measured(options, "analysis", cells, "analysis.jsonl", kRowsOfAnalysis,
                       [&](const Cell& cell) { return measure(options, cell); }));
  STRIPLINE_ASSIGN_OR_RETURN(const auto hidden, hidden_shares(options, cells));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, analysis_table(results, hidden));
  std::fputs(text.c_str(), stdout);
  return {};
}

}  // namespace stripline::suites::results
