// Does a fit find the parameters that the emulated fabric was given? Profiles are the ground truth;
// the fitter sees the samples only.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/model/tuned_model.h"
#include "runtime/fabric/emulated/profile.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// A fitted parameter beside its true value.
struct Recovered {
  std::string operation;  ///< get, put, am
  size_t segment = 0;     ///< of the profile
  std::string parameter;  ///< o_base, o_per_byte, L, g, G, r_base, r_per_byte, Q
  double truth = 0;
  double value = 0;
  double low = 0;
  double high = 0;

  bool inside() const { return low <= truth && truth <= high; }
  /// Half the width of the interval, relative to the truth, which must not be zero.
  double half_width() const { return (high - low) / 2 / truth; }
};

/// Every parameter that `path` holds, beside the profile's. A segment of the profile is compared
/// with the one that the model has for the geometric middle of its sizes within [smallest,
/// largest]. For active messages the cost of the handler counts as part of L and G, as
/// docs/measurement.md defines it, a payload travels with `am_header_bytes`, and what fills up
/// first is the queue or the window of messages in flight per pair. A queue depth that is only
/// bounded from below is not identified and left out. Pure.
std::vector<Recovered> compare_with_truth(const fabric::Profile& profile,
                                          const model::PathModel& path, uint64_t smallest,
                                          uint64_t largest, uint64_t am_header_bytes);

/// Measures and fits ten campaigns per profile (quick: one campaign), each with a jitter
/// of its own, and prints the share of parameters whose interval contains the truth. Continues
/// where an interrupted one ended. Errors: as measure_run().
Status print_recovery(const Options& options);

}  // namespace stripline::suites::results
