// What a planner for transfers of many regions loses: cells, their points, and the regret of its
// choices where it was not fitted. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/experiment/experiment.h"
#include "optimizer/fit/vis_samples.h"
#include "optimizer/plan/vis.h"
#include "optimizer/plan/vis_costs.h"

namespace stripline::suites::results {

/// One transfer in one class of computation.
struct VisCell {
  fit::VisShape shape;
  plan::ComputeClass compute = plan::ComputeClass::communication_only;
  std::string text() const;  ///< "get, heavy: 64 x 512 B"
};

/// What decisions are judged on: both directions, all classes, more than 100 cells, none of whose
/// sizes of regions or of data campaigns measure. Quick: few.
std::vector<VisCell> vis_cells(bool quick);

/// The points of a cell, a method each, and the computation alone: every method in the chunks and
/// with the window that programs take with these costs, or without a model (null).
std::vector<experiment::Point> vis_points(const VisCell& cell, const plan::VisCosts* costs);

/// The request that describes a cell to the planner, as programs make it.
plan::VisRequest request_of_cell(const VisCell& cell);

/// What a choice loses in one cell: time of the chosen method over that of the best one, less 1, as
/// PairedRegret compares them.
struct CellRegret {
  VisCell cell;
  plan::VisMethod chosen = plan::VisMethod::pipelined;
  plan::VisMethod best = plan::VisMethod::pipelined;  ///< over all runs
  double value = 0;
  double low = 0;  ///< the 95 % interval over runs
  double high = 0;
  /// True if the choice is known to lose: the interval lies above nothing.
  bool lost() const { return low > 0; }
};

/// The regret of a measured cell; nothing if the chosen method or two runs of it are missing. Times
/// include the computation.
std::optional<CellRegret> cell_regret(const VisCell& cell, const fit::VisTimes& times,
                                      plan::VisMethod chosen);

/// How a set of choices did.
struct VisRegret {
  std::vector<CellRegret> cells;
  double mean = 0;       ///< cells whose value is less than nothing count as 0
  double worst = 0;      ///< of the cells whose choice is known to lose
  double worst_low = 0;  ///< its 95 % interval over runs
  double worst_high = 0;
  std::string worst_cell;  ///< with the method chosen and the best one
  size_t best = 0;         ///< cells whose choice is not known to lose
};

/// Judges `choose` on the cells that were measured.
VisRegret vis_regret(const std::vector<VisCell>& cells, const fit::VisSamples& samples,
                     const std::function<plan::VisMethod(const VisCell&)>& choose);

/// The cells that may lose more than `bound`: whose interval does not lie below it.
std::vector<VisCell> suspects(const VisRegret& regret, double bound);

/// `regret` with the cells of `again`, which was measured in other runs, in place of its own. The
/// worst of many cells is in part the one with the worst luck; luck does not come twice.
VisRegret confirmed(const VisRegret& regret, const VisRegret& again);

}  // namespace stripline::suites::results
