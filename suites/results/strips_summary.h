// What strips gain over bulk transfers, by the model and by exhaustive search. Pure.
//
// Gains are those of speed, as Chen has them: a loop that takes 1 / 1.2 of the time gains 20 %.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/stats/compare.h"
#include "suites/harness/verdicts.h"
#include "suites/results/cell_result.h"

namespace stripline::suites::results {

/// Over some cells; as ratios of times, of which gain_of() is the gain.
struct StripSummary {
  size_t cells = 0;
  stats::GeometricMean model_over_bulk;
  stats::GeometricMean best_over_bulk;
  size_t gaining = 0;     ///< cells where the best plan gains at least 1 % (at 95 %)
  size_t with_half = 0;   ///< of these, where the model gets half of that, or more
  size_t with_most = 0;   ///< 90 %, or more
  Verdicts against_bulk;  ///< of the model's plan
  double worst = 0;       ///< largest ratio of the model's plan to bulk
  std::string worst_cell;

  /// The share of the best plan's gain that the model's has; NaN below 1 %.
  double share() const;
};

/// 1 / ratio - 1.
double gain_of(double ratio);
/// gain_of(model) / gain_of(best); NaN where the best plan gains less than 1 %.
double share_of_gain(double model, double best);

/// Errors: those of optimizer/stats, such as a cell with one run.
Result<StripSummary> summarize_strips(const std::vector<CellResult>& cells);

/// What strips are judged on.
struct StripResults {
  std::vector<CellResult> sweep;         ///< StripCells::sweep
  std::vector<CellResult> applications;  ///< StripCells::applications
  std::vector<CellResult> kernels;       ///< loops of quality_cells() that are cut
};

/// The criteria, the networks, the sweep by size, and all cells, as Markdown. `hidden` is the share
/// of transfers that each network lets computation hide. Errors: as summarize_strips().
Result<std::string> strip_tables(const StripResults& results,
                                 const std::map<std::string, double>& hidden);

}  // namespace stripline::suites::results
