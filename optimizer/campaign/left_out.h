// Experiments that a campaign goes on without, because runs fail while they measure them. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "optimizer/experiment/point_order.h"

namespace stripline::campaign {

/// A run has failed while it measured `experiment`, because of `why`. If that was the second time,
/// or it would fail there `for_good`, the campaign goes on without it, as long as it has others.
/// `requirements` are all that it measures, `failures` counts them by experiment. Returns whether
/// the experiment was left out; what is not the campaign's, or was left out before, is not.
bool leave_out(const std::string& experiment, const std::string& why, bool for_good,
               const std::map<std::string, int64_t>& requirements,
               std::map<std::string, uint32_t>& failures, experiment::LeftOut& left_out);

/// "; without X, which was left out after ..." for each experiment that is; else empty.
std::string left_out_text(const experiment::LeftOut& left_out);

}  // namespace stripline::campaign
