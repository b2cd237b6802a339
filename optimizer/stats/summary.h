// What is reported of a measured point: median, interval, counts and tails.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "optimizer/stats/interval.h"

namespace stripline::stats {

/// Repetitions of one point, one vector per run. The unit is the caller's (seconds as a rule).
using Runs = std::vector<std::vector<double>>;

/// Summary of a point. Derived data: the raw samples are kept elsewhere.
struct Summary {
  double median = 0.0;  ///< Median of the run medians.
  double ci_low = 0.0;  ///< Interval of the median; `method` says what it means.
  double ci_high = 0.0;
  std::size_t n_samples = 0;
  std::size_t n_runs = 0;
  double min = 0.0;  ///< Over all samples, as are the two tails below.
  double p90 = 0.0;
  double p99 = 0.0;
  IntervalMethod method = IntervalMethod::run_medians_exact;
};

/// The medians of the runs that have samples, in order.
std::vector<double> run_medians(const Runs& runs);

/// Summarises a point. Runs without samples are skipped. With one run the interval is the exact one
/// over its repetitions (method within_run), or their range when they are too few. Errors:
/// invalid_argument when there is no sample or one is not finite, or the confidence is not in (0,
/// 1).
Result<Summary> summarize(const Runs& runs, double confidence = 0.95);

}  // namespace stripline::stats
