// What the ways of updating shared cells take on this machine, measured by the workers that are to
// make the updates.
#pragma once

#include <stripline/shared_cells.h>
#include <stripline/worker_team.h>

#include "base/result.h"
#include "optimizer/plan/shared_update.h"

namespace stripline::update {

/// Collective; takes some milliseconds. `replica_bytes`: what replicas would take, which decides
/// whether they are combined in a cache. The same on all workers. Errors: resource_exhausted.
Result<plan::SharedCosts> measure_shared_costs(worker_team& team,
                                               const detail::CellOperations& operations,
                                               size_t replica_bytes);

}  // namespace stripline::update
