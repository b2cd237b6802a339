// The text of an order from the stored plan of its run, without reading the plan as a document:
// plans have megabytes, and orders are made while the coordinator's lock is held. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stripline::server {

/// `plan` is what experiment::to_json(Assignment).dump() wrote, with fence 0. Returns it with this
/// fence, this deadline (a campaign that is tried again may have another budget) and the first
/// `points` points of its list (all, if it has fewer): the coarse grid stands first
/// (CampaignPlan::runs). `left_out` becomes the member of that name
/// (optimizer/experiment/point_order.h). One pass over the text.
/// Errors: data_loss when it is no such text.
Result<std::string> order_text(std::string_view plan, uint64_t fence, uint32_t points,
                               double deadline_s,
                               const std::map<std::string, std::string>& left_out = {});

}  // namespace stripline::server
