// The command that explains what was chosen at a place: `stripline explain` (docs/cli.md) with
// everything that the planner was asked. For a person to copy from what `--trace` shows.
#pragma once

#include <string>

#include "optimizer/plan/nest.h"
#include "optimizer/plan/strip.h"
#include "optimizer/plan/vis.h"
#include "optimizer/plan/wavefront.h"
#include "runtime/rma/context_state.h"

namespace stripline::detail {

/// The command for a loop over data that a path leads to, a nest, a stage that leaves what it
/// computes over a path, or a transfer of many regions. Empty without a model in a file; those
/// about a path also where the model has no path at all.
std::string explain_command(const ContextState& state, const plan::StripRequest& request,
                            model::Path path);
std::string explain_command(const ContextState& state, const plan::NestRequest& request);
std::string explain_command(const ContextState& state, const plan::WavefrontRequest& request,
                            model::Path path);
std::string explain_command(const ContextState& state, const plan::VisRequest& request,
                            model::Path path);

}  // namespace stripline::detail
