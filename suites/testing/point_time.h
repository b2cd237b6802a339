// The time of one point on ranks as fibers over an emulated network, for tests of what is computed.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "runtime/rma/fiber_group.h"
#include "suites/registry.h"

namespace stripline::suites {

/// The time of one repetition. `compute`: what the network's clocks go by ("declared", "none").
inline double point_time_s(rank_t ranks, const experiment::Point& point,
                           const std::string& compute) {
  bootstrap::FiberGroupOptions group{.ranks = ranks};
  group.context.fabric = "emulated:opteron-vapi,jitter=off,compute=" + compute;
  group.context.clock = "virtual";
  group.context.same_node = "network";
  group.context.segment_bytes = size_t{16} << 20;
  double measured_s = 0;
  const Status ran = bootstrap::run_fibers(group, [&](Context& context) {
    Session session(context, 1);
    experiment::StopRule once;
    once.min_reps = 1;
    once.max_reps = 1;
    const auto series = run_point(session, point, once);
    ASSERT_TRUE(series.ok()) << series.error().message();
    if (context.rank_me() != 0) return;
    ASSERT_TRUE(series->verified) << series->note;
    measured_s = series->values.at(0);
  });
  EXPECT_TRUE(ran.ok()) << ran.error().message();
  return measured_s;
}

}  // namespace stripline::suites
