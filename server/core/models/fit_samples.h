// What a fit is made of, as the store has it.
#pragma once

#include <cstdint>
#include <vector>

#include "server/core/models/fit_job.h"
#include "server/core/models/fit_order.h"
#include "server/store/store.h"

namespace stripline::server {

/// The samples of all finished runs of a campaign, under their last fence, with what the fit must
/// know. Errors: the store's; data_loss.
Result<FitJob> collect_samples(Store& store, int64_t campaign);

/// The samples of all runs that are fitted, numbered one after the other; `parts` are the order's
/// campaigns. Problems: those of joint_spec(), the store's.
Answer<FitJob> collect_samples(Store& store, const FitOrder& order,
                               const std::vector<FittedCampaign>& parts);

}  // namespace stripline::server
