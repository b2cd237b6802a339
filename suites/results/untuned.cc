#include "suites/results/untuned.h"

#include <cstdio>

#include "optimizer/stats/compare.h"
#include "optimizer/stats/order.h"
#include "suites/harness/table.h"
#include "suites/harness/verdicts.h"
#include "suites/results/cells.h"
#include "suites/results/quality.h"

namespace stripline::suites::results {
namespace {

Result<std::vector<Cell>> cells_without_model(const Options& options) {
  STRIPLINE_ASSIGN_OR_RETURN(std::vector<Cell> cells, quality_cells(options, CellKind::few_ranks));
  std::erase_if(cells, [](const Cell& cell) { return cell.network.emulated(); });
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Cell> many,
                             quality_cells(options, CellKind::many_ranks));
  cells.insert(cells.end(), many.begin(), many.end());
  return cells;
}

Result<CellResult> measure(const Options& options, const Cell& cell) {
  RowPoints rows;
  for (const std::string row : kRowsWithoutModel) {
    rows.emplace_back(row, cell.problem);
    rows.back().second.variant = row;
  }
  return measure_rows(options, cell, {}, rows);
}

}  // namespace

Result<std::string> untuned_tables(const std::vector<CellResult>& cells,
                                   const std::map<std::string, double>& hidden) {
  Verdicts all;
  Table every({"network", ">ranks", "problem", ">blocking", ">without a model",
               ">without a model / blocking", "verdict", "carried out"});
  Table networks({"network", ">hidden share of a get", ">cells", ">without a model / blocking",
                  "not slower by more than 2 %", ">worst", "worst cell", "criterion"});
  const auto test_of = [](const CellResult& cell) {
    return stats::non_inferiority(cell.times.at("untuned"), cell.times.at("blocking"), kMargin);
  };
  for (const CellResult& cell : cells) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto test, test_of(cell));
    all.add(test.verdict);
    every.add({cell.fabric, std::to_string(cell.ranks), cell.problem,
               with_unit(stats::median(cell.times.at("blocking")), "s"),
               with_unit(stats::median(cell.times.at("untuned")), "s"),
               bounded(test.ratio, test.lower, test.upper), stats::to_string(test.verdict),
               cell.plans.at("untuned")});
  }
  for (const auto& [fabric, group] : by_fabric(cells)) {
    Verdicts verdicts;
    Ratios ratios;
    for (const CellResult& cell : group) {
      STRIPLINE_ASSIGN_OR_RETURN(const auto test, test_of(cell));
      verdicts.add(test.verdict);
      ratios.add(test.ratio, std::to_string(cell.ranks) + " ranks, " + cell.problem);
    }
    STRIPLINE_ASSIGN_OR_RETURN(const auto mean, mean_ratio(group, "untuned", "blocking"));
    networks.add({fabric, share_text(hidden, fabric), std::to_string(mean.cells),
                  bounded(mean.value, mean.lower, mean.upper), verdicts.text(),
                  number(ratios.worst), ratios.worst_name,
                  "no INFERIOR: " + met(verdicts.inferior == 0)});
  }
  return "Ratios of times in paired runs, below 1 is faster; bounds are one-sided at 95 %. Of "
         "all " +
         std::to_string(cells.size()) + " cells: " + all.text() +
         ".\n\nBy network (geometric means over its cells):\n\n" + networks.text() +
         "\nEvery cell:\n\n" + every.text();
}

Status print_untuned(const Options& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Cell> cells, cells_without_model(options));
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::vector<CellResult> results,
      kept_or_measured(options, "untuned", cells, "untuned.jsonl", kRowsWithoutModel,
                       [&](const Cell& cell) { return measure(options, cell); }));
  STRIPLINE_ASSIGN_OR_RETURN(const auto hidden, hidden_shares(options, cells));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, untuned_tables(results, hidden));
  std::fputs(text.c_str(), stdout);
  return {};
}

}  // namespace stripline::suites::results
