// The virtual clock: a conservative discrete-event order over the ranks.
//
// One rank runs at a time. Each parks at the time of what it does next (its next call into the
// library, or an event of an operation of its own); the turn goes to the rank with the smallest
// (time, rank). A rank's clock advances by its own CPU time between calls, scaled, less what the
// measuring costs, or by what a trace has written down; inside the library it advances as the
// profile says. A rank that waits jumps to the next thing that concerns it. When every rank waits
// and nothing is in flight the job can never continue, and fails with a message.
#pragma once

#include <memory>

#include "runtime/fabric/emulated/compute_trace.h"
#include "runtime/fabric/emulated/rank_engine.h"

namespace stripline::fabric {

/// `trace`: what is replayed, if request.compute says so; else empty.
std::unique_ptr<RankEngine> make_virtual_engine(ProfileRequest request, const OpenOptions& options,
                                                SharedRegion region, ComputeTrace trace);

}  // namespace stripline::fabric
