#include "suites/results/quality_summary.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "optimizer/stats/order.h"
#include "suites/harness/asked.h"
#include "suites/harness/table.h"

namespace stripline::suites::results {
namespace {

using asked::quality::kMean;
using asked::quality::kOverlap;
using asked::quality::kShareOfGain;
using asked::quality::kWorstCell;

constexpr double kLeastGain = 0.01;
constexpr uint64_t kSmallestTransfer = 16 << 10;

std::string time_text(const std::vector<double>& times) {
  return with_unit(stats::median(times), "s");
}

std::string mean_text(const stats::GeometricMean& mean) {
  return bounded(mean.value, mean.lower, mean.upper);
}

// The criteria of the row that `all` is a summary of; `name` is what readers know it by.
void add_criteria(Table& table, const QualitySummary& all, const std::string& name) {
  table.add({name + " / best, geometric mean: upper bound (mean " +
                 number(all.tuned_over_best.value) + ")",
             number(all.tuned_over_best.upper), number(kMean, 2),
             met(all.tuned_over_best.upper <= kMean)});
  table.add({name + " / best, worst cell: lower bound (" + all.worst_cell + ")",
             number(all.worst_lower), number(kWorstCell, 2), met(all.worst_lower <= kWorstCell)});
  for (const auto& [baseline, verdicts] :
       {std::pair("blocking", &all.against_blocking), std::pair("HAND-T", &all.against_hand_t)}) {
    table.add({name + " not slower than " + std::string(baseline) + " by more than 2 %",
               verdicts->text(), "no INFERIOR", met(verdicts->inferior == 0)});
  }
}

std::string criteria_table(const QualitySummary& all, const std::optional<QualitySummary>& guarded,
                           const std::map<std::string, QualitySummary>& summaries,
                           const std::map<std::string, double>& hidden) {
  Table table({"criterion", ">value", ">bound", "verdict"});
  table.add({"cells", std::to_string(all.cells), "at least 60", met(all.cells >= 60)});
  add_criteria(table, all, "tuned");
  if (guarded) add_criteria(table, *guarded, "tuned with guards");
  for (const auto& [fabric, summary] : summaries) {
    const auto found = hidden.find(fabric);
    if (found != hidden.end() && !(found->second >= kOverlap)) continue;
    table.add({"tuned faster than HAND on " + fabric + ", geometric mean",
               number(summary.tuned_over_hand.value), "below 1",
               met(summary.tuned_over_hand.value < 1)});
    if (!std::isfinite(summary.share_of_gain())) continue;
    table.add({"share of the gain over HAND on " + fabric, percent(summary.share_of_gain(), 0),
               percent(kShareOfGain, 0), met(summary.share_of_gain() >= kShareOfGain)});
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
  for (const CellResult& cell : cells) {
    const auto& tuned = cell.times.at(row);
    const auto& best = cell.times.at("best");
    const auto& hand_t = cell.times.at("hand_t");
    const auto& blocking = cell.times.at("blocking");
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
  STRIPLINE_ASSIGN_OR_RETURN(summary.tuned_over_best, mean_ratio(cells, row, "best"));
  STRIPLINE_ASSIGN_OR_RETURN(summary.tuned_over_hand, mean_ratio(cells, row, "hand"));
  STRIPLINE_ASSIGN_OR_RETURN(summary.best_over_hand, mean_ratio(cells, "best", "hand"));
  STRIPLINE_ASSIGN_OR_RETURN(summary.tuned_over_hand_t, mean_ratio(cells, row, "hand_t"));
  STRIPLINE_ASSIGN_OR_RETURN(summary.tuned_over_blocking, mean_ratio(cells, row, "blocking"));
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
  const auto groups = by_fabric(cells);
  std::map<std::string, QualitySummary> summaries;
  for (const auto& [fabric, group] : groups) {
    STRIPLINE_ASSIGN_OR_RETURN(summaries[fabric], summarize_cells(group));
  }

  std::vector<std::string> columns = {
      "network",         ">hidden share of a get", ">cells",
      ">tuned / HAND",   ">best / HAND",           ">share of gain",
      ">tuned / HAND-T", ">tuned / best",          ">tuned / blocking"};
  if (guarded) columns.insert(columns.end(), {">with guards / best", ">with guards / blocking"});
  Table fabrics(columns);
  for (const auto& [fabric, summary] : summaries) {
    std::vector<std::string> row = {fabric,
                                    share_text(hidden, fabric),
                                    std::to_string(summary.cells),
                                    mean_text(summary.tuned_over_hand),
                                    mean_text(summary.best_over_hand),
                                    percent(summary.share_of_gain(), 0),
                                    mean_text(summary.tuned_over_hand_t),
                                    mean_text(summary.tuned_over_best),
                                    mean_text(summary.tuned_over_blocking)};
    if (guarded) {
      STRIPLINE_ASSIGN_OR_RETURN(const QualitySummary of_guarded,
                                 summarize_cells(groups.at(fabric), kGuardedRow));
      row.push_back(mean_text(of_guarded.tuned_over_best));
      row.push_back(mean_text(of_guarded.tuned_over_blocking));
    }
    fabrics.add(row);
  }

  columns = {"network",          ">ranks",     "problem",  ">blocking", ">HAND",
             ">HAND-4, packed",  ">HAND-T",    ">tuned",   ">best",     ">tuned / best",
             "against blocking", "tuned plan", "best plan"};
  if (guarded) columns.insert(columns.end(), {">with guards", "against blocking"});
  Table every(columns);
  for (const CellResult& cell : cells) {
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto against_best,
        stats::non_inferiority(cell.times.at("tuned"), cell.times.at("best"), kMargin));
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto against_blocking,
        stats::non_inferiority(cell.times.at("tuned"), cell.times.at("blocking"), kMargin));
    std::vector<std::string> row = {
        cell.fabric,
        std::to_string(cell.ranks),
        cell.problem,
        time_text(cell.times.at("blocking")),
        time_text(cell.times.at("hand")),
        time_text(cell.times.at("hand4")),
        time_text(cell.times.at("hand_t")),
        time_text(cell.times.at("tuned")),
        time_text(cell.times.at("best")),
        bounded(against_best.ratio, against_best.lower, against_best.upper),
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
         criteria_table(all, guarded, summaries, hidden) +
         "\nBy network (geometric means over its cells; share of gain: (HAND - tuned) / (HAND - "
         "best); Iancu et al. report 9.5 % over HAND on average):\n\n" +
         fabrics.text() + "\nEvery cell:\n\n" + every.text();
}

}  // namespace stripline::suites::results
