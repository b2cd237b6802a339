// One point of a kernel: repetitions between barriers, each with fresh data and each verified.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "suites/session.h"

namespace stripline::suites {

/// The parts of a repetition, called on every rank.
struct KernelParts {
  /// Fills this rank's source with data that depend on `salt` and clears the result; not timed.
  std::function<void(uint64_t salt)> prepare;
  /// Fetches and computes: what is timed. Ranks that only serve have none.
  std::function<void()> run;
  /// True if this rank's whole result is right; not timed.
  std::function<bool(uint64_t salt)> verify;
  /// What the time is multiplied with (variant fine, when it runs a part of the loop).
  double scale = 1;
};

/// Collective. A sample is the longest time over the ranks from the end of the barrier before to
/// the end of the rank's own work; ranks that are done earlier, or only serve, wait in the barrier
/// after it and are attentive there.
experiment::SampleSeries measure_kernel(Session& session, const experiment::StopRule& rule,
                                        const KernelParts& parts);

}  // namespace stripline::suites
