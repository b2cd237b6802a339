// What plan_vis() decides, and what is done without a model, as a stage of a pipeline, without the
// times that a VisPlan tells. For the files of this folder.
#pragma once

#include "optimizer/cost/residual_table.h"
#include "optimizer/plan/vis.h"
#include "optimizer/plan/vis_time.h"

namespace stripline::plan::detail {

struct VisChoice {
  VisCandidate candidate;
  VisStage stage;           // by the cost model alone
  cost::LogRatio residual;  // that corrects it (VisCosts::residuals())
  double factor = 1;        // the same, not as a logarithm
};

/// The method of plan_vis() for the same arguments, with its window and chunk.
VisChoice choose_vis(const VisRequest& request, const VisCosts& costs) noexcept;

/// The method that is taken without a model, and what the model says of it.
VisChoice untuned_vis(const VisRequest& request, const VisCosts& costs) noexcept;

}  // namespace stripline::plan::detail
