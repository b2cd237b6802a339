// The real clock: ranks run side by side, and operations complete when the host's clock reaches the
// time that the profile says. Only profiles much slower than the host's own memory qualify.
#pragma once

#include <memory>

#include "runtime/fabric/emulated/rank_engine.h"

namespace stripline::fabric {

/// Checks whether this host can reproduce the profile in real time: its fastest G at least ten
/// times the cost of a memory copy, no more ranks than cores, a CPU no faster than the host's.
/// Errors: failed_precondition with the figures.
Status check_reproducible(const ProfileRequest& request, Rank ranks);

std::unique_ptr<RankEngine> make_real_engine(ProfileRequest request, const OpenOptions& options,
                                             SharedRegion region);

}  // namespace stripline::fabric
