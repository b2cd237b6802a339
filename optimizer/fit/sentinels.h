// Sentinels: points that are measured again and again, to see whether a model still holds. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "optimizer/cost/link_costs.h"
#include "optimizer/experiment/experiment.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::fit {

/// What a model says that a blocking operation takes.
struct ExpectedTime {
  uint64_t bytes = 0;
  double predicted_s = 0;
  double low_s = 0;   ///< With all parameters at the low ends of their intervals,
  double high_s = 0;  ///< and at the high ones.
};

ExpectedTime expected_time(const cost::LinkCosts& costs, uint64_t bytes);

/// The time of a blocking get or put between nodes; nullopt of other points, and of those that the
/// model says nothing of.
std::optional<ExpectedTime> expected_time(const model::TunedModel& model,
                                          const experiment::Point& point);

/// True if a measured time is farther from the interval than kSentinelTolerance.
bool is_outside(const ExpectedTime& expected, double measured_s);

}  // namespace stripline::fit
