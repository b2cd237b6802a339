// What plan_vis() decides, without the times that a VisPlan tells. For the files of this folder.
#pragma once

#include "optimizer/cost/residual_table.h"
#include "optimizer/plan/vis.h"

namespace stripline::plan::detail {

struct VisChoice {
  VisCandidate candidate;
  cost::LogRatio residual;  // of the cost model's time (VisCosts::residual())
};

/// The method of plan_vis() for the same arguments, with its window and chunk.
VisChoice choose_vis(const VisRequest& request, const VisCosts& costs) noexcept;

}  // namespace stripline::plan::detail
