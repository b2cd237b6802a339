// Sentinels: points that are measured again and again, to see whether a model still holds. Single
// operations show that a network is another one; bursts of them that a depth is wrong, and
// transfers of many regions that a window or packing is. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/cost/link_costs.h"
#include "optimizer/experiment/experiment.h"
#include "optimizer/model/tuned_model.h"
#include "optimizer/plan/compiled_model.h"

namespace stripline::fit {

enum class Sentinel : uint8_t {
  size,   ///< a blocking get or put between nodes
  burst,  ///< several of them, issued one after the other
  shape,  ///< a transfer of many regions, by one operation each or packed
};

/// What a model says that it takes.
struct ExpectedTime {
  uint64_t bytes = 0;
  double predicted_s = 0;
  double low_s = 0;   ///< With all parameters at the low ends of their intervals,
  double high_s = 0;  ///< and at the high ones.
  Sentinel kind = Sentinel::size;
};

/// The experiments that have sentinels, in the order of what they tell.
std::vector<std::string> sentinel_experiments();

ExpectedTime expected_time(const cost::LinkCosts& costs, uint64_t bytes);

/// What the model says that `count` operations take which are issued one after the other and then
/// waited for: o + 2 L + G S + r, and for each further one the longest of o + r, g + G S and, where
/// more are issued than may be outstanding, its share of a round trip.
ExpectedTime expected_burst(const cost::LinkCosts& costs, uint64_t bytes, uint64_t count);

/// The time of a sentinel; nullopt of other points, and of those that the model says nothing of.
std::optional<ExpectedTime> expected_sentinel(const plan::CompiledModel& model,
                                              const experiment::Point& point);

/// True if a measured time is farther from the interval than kSentinelTolerance, or, of what takes
/// many operations, than kDeedTolerance.
bool is_outside(const ExpectedTime& expected, double measured_s);

}  // namespace stripline::fit
