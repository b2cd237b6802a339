// What the finished runs of a campaign have said of its points, as the store has it.
#pragma once

#include <vector>

#include "base/result.h"
#include "optimizer/campaign/point_table.h"
#include "server/store/records.h"
#include "server/store/store.h"

namespace stripline::server {

/// Reads the samples of all finished runs. Errors: the store's; data_loss.
Result<campaign::PointTable> measured_points(Store& store, int64_t campaign,
                                             const std::vector<RunRecord>& runs);

}  // namespace stripline::server
