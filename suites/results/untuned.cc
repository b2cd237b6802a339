#include "suites/results/untuned.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "optimizer/stats/compare.h"
#include "optimizer/stats/order.h"
#include "suites/bench/text_table.h"
#include "suites/results/cells.h"
#include "suites/results/markdown.h"
#include "suites/results/quality.h"
#include "suites/results/verdicts.h"

namespace stripline::suites::results {
namespace {

struct Group {
  std::vector<std::vector<double>> logs;  // by cell
  Verdicts verdicts;
  stats::NonInferiorityTest worst;
  std::string worst_cell;
};

Status add(const CellResult& cell, const stats::NonInferiorityTest& test, Group& group) {
  STRIPLINE_ASSIGN_OR_RETURN(
      auto logs, stats::paired_log_ratios(cell.times.at("untuned"), cell.times.at("blocking")));
  group.logs.push_back(std::move(logs));
  group.verdicts.add(test.verdict);
  if (group.worst_cell.empty() || test.ratio > group.worst.ratio) {
    group.worst = test;
    group.worst_cell = std::to_string(cell.ranks) + " ranks, " + cell.problem;
  }
  return {};
}

std::string bounded(double value, double lower, double upper) {
  return number(value) + " [" + number(lower) + ", " + number(upper) + "]";
}

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
  Group all;
  std::map<std::string, Group> by_fabric;
  MarkdownTable every({"network", ">ranks", "problem", ">blocking", ">without a model",
                       ">without a model / blocking", "verdict", "carried out"});
  for (const CellResult& cell : cells) {
    const auto& untuned = cell.times.at("untuned");
    const auto& blocking = cell.times.at("blocking");
    STRIPLINE_ASSIGN_OR_RETURN(const auto test, stats::non_inferiority(untuned, blocking, kMargin));
    STRIPLINE_RETURN_IF_ERROR(add(cell, test, all));
    STRIPLINE_RETURN_IF_ERROR(add(cell, test, by_fabric[cell.fabric]));
    every.add({cell.fabric, std::to_string(cell.ranks), cell.problem,
               bench::with_unit(stats::median(blocking), "s"),
               bench::with_unit(stats::median(untuned), "s"),
               bounded(test.ratio, test.lower, test.upper), stats::to_string(test.verdict),
               cell.plans.at("untuned")});
  }
  MarkdownTable networks({"network", ">hidden share of a get", ">cells",
                          ">without a model / blocking", "not slower by more than 2 %", ">worst",
                          "worst cell", "criterion"});
  for (const auto& [fabric, group] : by_fabric) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto mean, stats::geometric_mean(group.logs));
    const auto found = hidden.find(fabric);
    networks.add({fabric, percent(found == hidden.end() ? std::nan("") : found->second, 0),
                  std::to_string(mean.cells), bounded(mean.value, mean.lower, mean.upper),
                  group.verdicts.text(), number(group.worst.ratio), group.worst_cell,
                  "no INFERIOR: " + met(group.verdicts.inferior == 0)});
  }
  return "Ratios of times in paired runs, below 1 is faster; bounds are one-sided at 95 %. Of "
         "all " +
         std::to_string(cells.size()) + " cells: " + all.verdicts.text() +
         ".\n\nBy network (geometric means over its cells):\n\n" + networks.text() +
         "\nEvery cell:\n\n" + every.text();
}

Status print_untuned(const Options& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Cell> cells, cells_without_model(options));
  const auto parse = [](const Json& json) {
    return cell_result_from_json(json, kRowsWithoutModel);
  };
  STRIPLINE_ASSIGN_OR_RETURN(KeptCells kept, KeptCells::open(options.path("untuned.jsonl"), parse));
  std::vector<CellResult> results;
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto measure_it = [&] {
      std::fprintf(stderr, "untuned: cell %zu of %zu: %s\n", i + 1, cells.size(),
                   cells[i].key().c_str());
      return measure(options, cells[i]);
    };
    STRIPLINE_ASSIGN_OR_RETURN(CellResult result, kept.get(cells[i].key(), measure_it));
    results.push_back(std::move(result));
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto hidden, hidden_shares(options, cells));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, untuned_tables(results, hidden));
  std::fputs(text.c_str(), stdout);
  return {};
}

}  // namespace stripline::suites::results
