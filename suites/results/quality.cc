#include "suites/results/quality.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <variant>

#include "suites/bench/failure.h"
#include "suites/bench/progress.h"
#include "suites/bench/search.h"
#include "suites/kernels/candidates.h"
#include "suites/kernels/strided_variants.h"
#include "suites/registry.h"
#include "suites/results/campaign.h"
#include "suites/results/overlap.h"
#include "suites/results/quality_summary.h"

namespace stripline::suites::results {
namespace {

using experiment::Point;

constexpr double kQuickSearchS = 1;

RowPoints row_points(const Cell& cell, const Point& by_hand, const Point& best) {
  const Point& problem = cell.problem;
  const std::vector<std::string>& variants =
      find_benchmark(problem.experiment)->declaration.variants;
  const auto has = [&](const char* variant) {
    return std::ranges::find(variants, variant) != variants.end();
  };
  RowPoints rows;
  for (const std::string row : kRows) {
    rows.emplace_back(row, row == "best" ? best : row == "hand_t" ? by_hand : problem);
    if (row == "best" || row == "hand_t") continue;
    const bool strided = problem.params.contains(kMethodFactor);
    rows.back().second.variant = row == "hand4" && strided       ? "packed"
                                 : row == "hand" && !has("hand") ? "blocking"
                                                                 : row;
  }
  if (!cell.network.declared && has(kGuardedRow)) {
    rows.emplace_back(kGuardedRow, problem);
    rows.back().second.variant = kGuardedRow;
  }
  return rows;
}

}  // namespace

Result<CellResult> measure_cell(const Options& options, const Cell& cell,
                                const std::string& model) {
  const bench::Target target = target_of(options, cell.network, cell.ranks, model);
  bench::Progress progress;
  const double budget_s = options.quick ? kQuickSearchS : options.search_budget_s;
  STRIPLINE_ASSIGN_OR_RETURN(const auto candidates, search_candidates(cell.problem, cell.ranks));
  auto swept = bench::find_best_plan(target, hand_swept(candidates), budget_s, progress);
  if (const auto* failure = std::get_if<bench::Failure>(&swept)) return error_of(*failure);
  const auto by_hand = std::get<bench::BestPlan>(std::move(swept));
  auto searched = bench::find_best_plan(target, candidates, budget_s, progress);
  if (const auto* failure = std::get_if<bench::Failure>(&searched)) return error_of(*failure);
  const auto best = std::get<bench::BestPlan>(std::move(searched));
  const RowPoints rows = row_points(cell, by_hand.point, best.point);
  STRIPLINE_ASSIGN_OR_RETURN(CellResult result, measure_rows(options, cell, model, rows));
  result.candidates = best.candidates;
  return result;
}

Result<std::vector<CellResult>> load_or_measure_cells(const Options& options, const char* command,
                                                      const std::vector<Cell>& cells,
                                                      const char* records_file) {
  const auto measure = [&](const Cell& cell) -> Result<CellResult> {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string model, model_file(options, cell.network));
    return measure_cell(options, cell, model);
  };
  return kept_or_measured(options, command, cells, records_file, kRows, measure);
}

Result<std::map<std::string, double>> hidden_shares(const Options& options,
                                                    const std::vector<Cell>& cells) {
  std::map<std::string, double> hidden;
  for (const Cell& cell : cells) {
    const Network& network = cell.network;
    if (options.models.contains(network.fabric) || hidden.contains(network.fabric)) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const auto series, load_or_measure(options, network));
    hidden[network.fabric] = largest_hidden_share(hidden_share(series, "get"));
  }
  return hidden;
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
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<CellResult> results,
                             load_or_measure_cells(options, "quality", cells, records_file));
  if (kind == CellKind::few_ranks) {
    const auto lacking = std::ranges::count_if(
        results, [](const CellResult& cell) { return !cell.times.contains(kGuardedRow); });
    if (lacking > 0) {
      std::fprintf(
          stderr,
          "quality: %td cells in %s were measured without guards, so that row is left out; "
          "remove their lines to measure them again\n",
          lacking, options.path(records_file).c_str());
    }
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto hidden, hidden_shares(options, cells));
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
