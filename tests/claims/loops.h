// Random loops, and what they take in truth: strip by strip on a processor that issues, waits,
// retires and computes in program order, and a NIC that sends one message after the other. Written
// independently of the closed forms of optimizer/plan.
#pragma once

#include "optimizer/fit/testing/synthetic.h"
#include "optimizer/plan/strip.h"
#include "tests/claims/networks.h"

namespace stripline::claims {

/// A loop over one block of another rank's data.
struct Loop {
  plan::StripRequest request;
  /// What the computation takes on strips, in truth, relative to what it takes uncut.
  double body = 1;
};

Loop draw_loop(Draw& draw, const Network& network);

/// Seconds that the loop takes in truth, if it is carried out so.
double true_time(const Network& network, const Loop& loop, plan::Schedule schedule,
                 uint64_t strip_bytes, uint32_t window);
inline double true_baseline(const Network& network, const Loop& loop) {
  return true_time(network, loop, plan::Schedule::vectorised, loop.request.total_bytes, 1);
}

/// The best of a sweep over sizes, schedules and windows, vectorised included.
double best_of_sweep(const Network& network, const Loop& loop);

}  // namespace stripline::claims
