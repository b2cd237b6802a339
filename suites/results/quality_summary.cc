#include "suites/results/quality_summary.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "optimizer/stats/order.h"
#include "suites/bench/text_table.h"
#include "suites/results/markdown.h"

namespace stripline::suites::results {
namespace {

constexpr double kGeometricMeanBound = 1.03;
constexpr double kWorstCellBound = 1.15;
constexpr double kShareBound = 0.9;
constexpr double kOverlapBound = 0.2;  // what a network must offer for the comparison with HAND
constexpr double kLeastGain = 0.01;
constexpr uint64_t kSmallestTransfer = 16 << 10;

std::string time_text(const std::vector<double>& times) {
  return bench::with_unit(stats::median(times), "s");
}

std::string bounded(const stats::GeometricMean& mean) {
  return number(mean.value) + " [" + number(mean.lower) + ", " + number(mean.upper) + "]";
}

// The criteria of the row that `all` is a summary of; `name` is what readers know it by.
void add_criteria(MarkdownTable& table, const QualitySummary& all, const std::string& name) {
  table.add({name + " / best, geometric mean: upper bound (mean " +
                 number(all.tuned_over_best.value) + ")",
             number(all.tuned_over_best.upper), number(kGeometricMeanBound, 2),
             met(all.tuned_over_best.upper <= kGeometricMeanBound)});
  table.add({name + " / best, worst cell: lower bound (" + all.worst_cell + ")",
             number(all.worst_lower), number(kWorstCellBound, 2),
             met(all.worst_lower <= kWorstCellBound)});
  for (const auto& [baseline, verdicts] :
       {std::pair("blocking", &all.against_blocking), std::pair("HAND-T", &all.against_hand_t)}) {
    table.add({name + " not slower than " + std::string(baseline) + " by more than 2 %",
               verdicts->text(), "no INFERIOR", met(verdicts->inferior == 0)});
  }
}

std::string criteria_table(const QualitySummary& all, const std::optional<QualitySummary>& guarded,
                           const std::map<std::string, QualitySummary>& by_fabric,
                           const std::map<std::string, double>& hidden) {
  MarkdownTable table({"criterion", ">value", ">bound", "verdict"});
  table.add({"cells", std::to_string(all.cells), "at least 60", met(all.cells >= 60)});
  add_criteria(table, all, "tuned");
  if (guarded) add_criteria(table, *guarded, "tuned with guards");
  for (const auto& [fabric, summary] : by_fabric) {
    const auto found = hidden.find(fabric);
    if (found != hidden.end() && !(found->second >= kOverlapBound)) continue;
    table.add({"tuned faster than HAND on " + fabric + ", geometric mean",
               number(summary.tuned_over_hand.value), "below 1",
               met(summary.tuned_over_hand.value < 1)});
    if (!std::isfinite(summary.share_of_gain())) continue;
    table.add({"share of the gain over HAND on " + fabric, percent(summary.share_of_gain(), 0),
               percent(kShareBound, 0), met(summary.share_of_gain() >= kShareBound)});
  }
  return table.text();
}

bool have_guarded_row(const std::vector<CellResult>& cells) {
  return std::ranges::all_of(
      cells, [](const CellResult& cell) { return cell.times.contains(kGuardedRow); });
}

}  // namespace

double largest_hidden_share(const std::map<uint64_t, double>& by_size) {
  double largest = std::nan("");
  for (const auto& [bytes, share] : by_size) {
    if (bytes >= kSmallestTransfer && !(share <= largest)) largest = share;
  }
  return largest;
}

double QualitySummary::share_of_gain() const {
  const double possible = 1 - best_over_hand.value;
  if (possible < kLeastGain) return std::nan("");
  return (1 - tuned_over_hand.value) / possible;
}

Result<QualitySummary> summarize_cells(const std::vector<CellResult>& cells,
                                       const std::string& row) {
  QualitySummary summary;
  summary.cells = cells.size();
  std::vector<std::vector<double>> over_best;
  std::vector<std::vector<double>> over_hand;
  std::vector<std::vector<double>> best_over_hand;
  std::vector<std::vector<double>> over_hand_t;
  std::vector<std::vector<double>> over_blocking;
  for (const CellResult& cell : cells) {
    const auto& tuned = cell.times.at(row);
    const auto& best = cell.times.at("best");
    const auto& hand = cell.times.at("hand");
    const auto& hand_t = cell.times.at("hand_t");
    const auto& blocking = cell.times.at("blocking");
    for (const auto& [logs, candidate, baseline] : {std::tuple(&over_best, &tuned, &best),
                                                    {&over_hand, &tuned, &hand},
                                                    {&best_over_hand, &best, &hand},
                                                    {&over_hand_t, &tuned, &hand_t},
                                                    {&over_blocking, &tuned, &blocking}}) {
      STRIPLINE_ASSIGN_OR_RETURN(auto one, stats::paired_log_ratios(*candidate, *baseline));
      logs->push_back(std::move(one));
    }
    STRIPLINE_ASSIGN_OR_RETURN(const auto against_best,
                               stats::non_inferiority(tuned, best, kMargin));
    if (summary.worst_cell.empty() || against_best.lower > summary.worst_lower) {
      summary.worst_lower = against_best.lower;
      summary.worst_cell = cell.key;
    }
    for (const auto& [baseline, verdicts] : {std::pair(&blocking, &summary.against_blocking),
                                             std::pair(&hand_t, &summary.against_hand_t)}) {
      STRIPLINE_ASSIGN_OR_RETURN(const auto against,
                                 stats::non_inferiority(tuned, *baseline, kMargin));
      verdicts->add(against.verdict);
    }
  }
  STRIPLINE_ASSIGN_OR_RETURN(summary.tuned_over_best, stats::geometric_mean(over_best));
  STRIPLINE_ASSIGN_OR_RETURN(summary.tuned_over_hand, stats::geometric_mean(over_hand));
  STRIPLINE_ASSIGN_OR_RETURN(summary.best_over_hand, stats::geometric_mean(best_over_hand));
  STRIPLINE_ASSIGN_OR_RETURN(summary.tuned_over_hand_t, stats::geometric_mean(over_hand_t));
  STRIPLINE_ASSIGN_OR_RETURN(summary.tuned_over_blocking, stats::geometric_mean(over_blocking));
  return summary;
}

Result<std::string> quality_tables(const std::vector<CellResult>& cells,
                                   const std::map<std::string, double>& hidden) {
  STRIPLINE_ASSIGN_OR_RETURN(const QualitySummary all, summarize_cells(cells));
  // Where all of them have it.
  std::optional<QualitySummary> guarded;
  if (have_guarded_row(cells)) {
    STRIPLINE_ASSIGN_OR_RETURN(guarded, summarize_cells(cells, kGuardedRow));
  }
  std::map<std::string, std::vector<CellResult>> groups;
  for (const CellResult& cell : cells) groups[cell.fabric].push_back(cell);
  std::map<std::string, QualitySummary> by_fabric;
  for (const auto& [fabric, group] : groups) {
    STRIPLINE_ASSIGN_OR_RETURN(by_fabric[fabric], summarize_cells(group));
  }

  std::vector<std::string> columns = {
      "network",         ">hidden share of a get", ">cells",
      ">tuned / HAND",   ">best / HAND",           ">share of gain",
      ">tuned / HAND-T", ">tuned / best",          ">tuned / blocking"};
  if (guarded) columns.insert(columns.end(), {">with guards / best", ">with guards / blocking"});
  MarkdownTable fabrics(columns);
  for (const auto& [fabric, summary] : by_fabric) {
    const auto found = hidden.find(fabric);
    std::vector<std::string> row = {
        fabric,
        percent(found == hidden.end() ? std::nan("") : found->second, 0),
        std::to_string(summary.cells),
        bounded(summary.tuned_over_hand),
        bounded(summary.best_over_hand),
        percent(summary.share_of_gain(), 0),
        bounded(summary.tuned_over_hand_t),
        bounded(summary.tuned_over_best),
        bounded(summary.tuned_over_blocking)};
    if (guarded) {
      STRIPLINE_ASSIGN_OR_RETURN(const QualitySummary of_guarded,
                                 summarize_cells(groups.at(fabric), kGuardedRow));
      row.push_back(bounded(of_guarded.tuned_over_best));
      row.push_back(bounded(of_guarded.tuned_over_blocking));
    }
    fabrics.add(row);
  }

  columns = {"network",          ">ranks",     "problem",  ">blocking", ">HAND",
             ">HAND-4, packed",  ">HAND-T",    ">tuned",   ">best",     ">tuned / best",
             "against blocking", "tuned plan", "best plan"};
  if (guarded) columns.insert(columns.end(), {">with guards", "against blocking"});
  MarkdownTable every(columns);
  for (const CellResult& cell : cells) {
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto against_best,
        stats::non_inferiority(cell.times.at("tuned"), cell.times.at("best"), kMargin));
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto against_blocking,
        stats::non_inferiority(cell.times.at("tuned"), cell.times.at("blocking"), kMargin));
    std::vector<std::string> row = {cell.fabric,
                                    std::to_string(cell.ranks),
                                    cell.problem,
                                    time_text(cell.times.at("blocking")),
                                    time_text(cell.times.at("hand")),
                                    time_text(cell.times.at("hand4")),
                                    time_text(cell.times.at("hand_t")),
                                    time_text(cell.times.at("tuned")),
                                    time_text(cell.times.at("best")),
                                    number(against_best.ratio) + " [" + number(against_best.lower) +
                                        ", " + number(against_best.upper) + "]",
                                    stats::to_string(against_blocking.verdict),
                                    cell.plans.at("tuned"),
                                    cell.plans.at("best")};
    if (guarded) {
      const auto& times = cell.times.at(kGuardedRow);
      STRIPLINE_ASSIGN_OR_RETURN(const auto against,
                                 stats::non_inferiority(times, cell.times.at("blocking"), kMargin));
      row.push_back(time_text(times));
      row.emplace_back(stats::to_string(against.verdict));
    }
    every.add(row);
  }
  return "Ratios of times in paired runs, below 1 is faster; bounds are one-sided at 95 %.\n\n" +
         criteria_table(all, guarded, by_fabric, hidden) +
         "\nBy network (geometric means over its cells; share of gain: (HAND - tuned) / (HAND - "
         "best); Iancu et al. report 9.5 % over HAND on average):\n\n" +
         fabrics.text() + "\nEvery cell:\n\n" + every.text();
}

}  // namespace stripline::suites::results
