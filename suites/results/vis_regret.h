// What a planner for transfers of many regions loses: cells, their points, and the regret of its
// choices where it was not fitted. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "optimizer/experiment/experiment.h"
#include "optimizer/fit/vis_samples.h"
#include "optimizer/model/vis_model.h"
#include "optimizer/plan/vis.h"

namespace stripline::suites::results {

/// One transfer in one class of computation.
struct VisCell {
  fit::VisShape shape;
  plan::ComputeClass compute = plan::ComputeClass::communication_only;
  /// Decisions are judged on it, and it is not fitted: every other one, like the black squares of a
  /// chessboard over (region size, data).
  bool judged = false;
  std::string text() const;  ///< "get, heavy: 64 x 512 B"
};

/// Both directions, all classes: more than 100. Quick: one direction, few sizes.
std::vector<VisCell> vis_cells(bool quick);

/// The points of a cell, a method each, and the computation alone: under the settings that were
/// tuned, where they were.
std::vector<experiment::Point> vis_points(const VisCell& cell, const model::VisModel& tuned);

/// Messages that the points ask for, at most; what the planner is told when it is judged.
uint64_t vis_chunk_bytes(plan::Direction direction, const model::VisModel& tuned);

/// How a set of choices did: time of the chosen method over that of the best one measured, less 1.
struct VisRegret {
  size_t cells = 0;
  double mean = 0;
  double worst = 0;
  std::string worst_cell;  ///< with the method chosen and the best one
  size_t best = 0;         ///< cells in which nothing else is faster
};

/// Judges `choose` on the cells that are judged and of which all methods that the network has were
/// measured. Times are medians over runs of the runs' medians and include the computation.
VisRegret vis_regret(const std::vector<VisCell>& cells, const fit::VisSamples& samples,
                     const std::function<plan::VisMethod(const VisCell&)>& choose);

}  // namespace stripline::suites::results
