// The sequential stopping rule: repeat until the median's interval is narrow enough, and say why
// repeating ended (the contract of MPIBlib's min_reps, max_reps, cl, eps).
//
// Looking at the interval after every sample makes it too narrow, because one stops at lucky
// moments. Looking only at sample counts that grow by a factor of 1.5 keeps the nominal coverage at
// a price of about 40% more samples (simulated: stopping_test.cc, KeepsCoverage).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"

namespace stripline::stats {

/// What a look at the samples found. While `reason` is empty, repeat until next_check() samples.
struct StopCheck {
  std::optional<experiment::StopReason> reason;
  /// (high - low) / (2 |median|) of the interval, or 2 `least` if the median is nearer to zero;
  /// infinite while there are too few samples for one or that is zero with samples that differ.
  double relative_half_width = 0.0;
};

/// The sample count at which to look next: min_reps first, then ceil(1.5 current), never above
/// max_reps.
std::size_t next_check(const experiment::StopRule& rule, std::size_t current);

/// Judges the repetitions of one point in one run, in the order they were taken. When neighbours
/// depend on one another the interval is taken over batch medians (see lag1_dependence()), so that
/// a slowly wandering series is not declared converged. Order of reasons: cancelled, converged,
/// max_reps, time_budget. `elapsed_s` is the time spent on this point in this run. `least`, in the
/// unit of the samples: of what may be nothing, as a difference of two times, what still matters.
/// Errors: invalid_argument for a rule that contradicts itself or a sample that is not finite.
Result<StopCheck> check_repetitions(const experiment::StopRule& rule,
                                    std::span<const double> samples, double elapsed_s,
                                    bool cancelled, double least = 0.0);

}  // namespace stripline::stats
