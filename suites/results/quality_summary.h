// From measured cells to verdicts and tables. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/stats/compare.h"
#include "suites/harness/verdicts.h"
#include "suites/results/quality.h"

namespace stripline::suites::results {

/// What a network offers to strips: the largest share of a get that computation hides among the
/// sizes from 16 KiB, which loops of this kind transfer. NaN without such sizes.
double largest_hidden_share(const std::map<uint64_t, double>& by_size);

/// Over the cells of one network or of all. The cells are taken as fixed; bounds are one-sided at
/// 95 %.
struct QualitySummary {
  size_t cells = 0;
  // "tuned" is the row that is judged.
  stats::GeometricMean tuned_over_best;
  stats::GeometricMean tuned_over_hand;
  stats::GeometricMean best_over_hand;
  stats::GeometricMean tuned_over_hand_t;
  stats::GeometricMean tuned_over_blocking;
  double worst_lower = 0;  ///< largest lower bound of a cell's tuned / best
  std::string worst_cell;
  /// Verdicts on the tuned plan.
  Verdicts against_blocking;
  Verdicts against_hand_t;

  /// The share of the best plan's gain over HAND that tuning gets: (HAND - tuned) /
  /// (HAND - best), of the geometric means with HAND as the unit. NaN where the best plan gains
  /// less than 1 %.
  double share_of_gain() const;
};

/// Summarizes a row: "tuned", or kGuardedRow of cells that have it. Errors: those of
/// optimizer/stats, such as a cell with one run.
Result<QualitySummary> summarize_cells(const std::vector<CellResult>& cells,
                                       const std::string& row = "tuned");

/// The criteria, the networks and all cells as Markdown. `hidden` is the share of transfers that
/// each network lets computation hide.
Result<std::string> quality_tables(const std::vector<CellResult>& cells,
                                   const std::map<std::string, double>& hidden);

}  // namespace stripline::suites::results
