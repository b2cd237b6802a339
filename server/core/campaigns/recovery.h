// What becomes of the campaigns and runs that had not ended when the last server did.
#pragma once

#include "server/core/core_state.h"
#include "server/core/models/fit_queue.h"

namespace stripline::server {

/// Agents go on measuring without a server. A run whose attempt is stored waits for them; another,
/// or one of before a backup was put in place, is measured again. Campaigns that were being fitted
/// are fitted. Errors: the store's.
Status recover_runs(CoreState& state, FitQueue& fits) STRIPLINE_EXCLUDES(state.mutex);

}  // namespace stripline::server
