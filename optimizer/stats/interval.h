// Intervals for medians, quantiles and means.
//
// All functions of stripline::stats are pure and thread-safe. The unit of replication is the run
// (fresh endpoints, fresh placement): pass run medians, not pooled repetitions, to whatever is to
// be published (docs/measurement.md, "Runs, intervals, stopping").
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/result.h"

namespace stripline::stats {

/// A closed interval; what it covers, and with which confidence, is said by whoever returns it.
struct Interval {
  double low = 0.0;
  double high = 0.0;

  double half_width() const { return (high - low) / 2.0; }
  bool contains(double value) const { return low <= value && value <= high; }
};

/// How an interval of a location was obtained.
enum class IntervalMethod {
  run_medians_exact,  ///< Exact binomial interval over the medians of the runs.
  run_medians_t,      ///< t interval over the run medians: too few runs for the exact one.
  within_run,  ///< Exact interval over the repetitions of one run; blind to run-to-run spread.
  range,       ///< Smallest and largest sample: no confidence can be stated.
};

/// Name used in JSON and tables, e.g. "run_medians_exact".
const char* to_string(IntervalMethod method);

/// Success if there is at least one value and all are finite; else invalid_argument, naming `what`.
Status check_finite(std::span<const double> values, const char* what);

/// Success if the confidence lies in (0, 1), else invalid_argument.
Status check_confidence(double confidence);

// Quantiles of distributions. Outside of their domain (a confidence beyond [0, 1], degrees of
// freedom that are not above zero) they give NaN, at its ends infinity; they never throw.

/// Two-sided quantile of the standard normal distribution: z with P(|Z| <= z) = confidence.
double normal_two_sided(double confidence);

/// Two-sided quantile of Student's t: t with P(|T| <= t) = confidence; degrees_of_freedom > 0.
double t_two_sided(double confidence, double degrees_of_freedom);

/// P(|T| >= |t|) of Student's t.
double t_two_sided_p(double t, double degrees_of_freedom);

/// One-sided quantile of Student's t: t with P(T <= t) = confidence.
double t_one_sided(double confidence, double degrees_of_freedom);

/// t_one_sided() at one confidence, for hundreds of thousands of comparisons: within 1e-12 of it,
/// relative to it, at a small part of its cost. Below one degree of freedom it is t_one_sided().
class TQuantile {
 public:
  /// `confidence` lies in (0.5, 1).
  explicit TQuantile(double confidence);

  double at(double degrees_of_freedom) const;

 private:
  double confidence_;
  std::array<double, 24> coefficients_{};
};

/// What a difference has to be, in standard errors, to be found by a two-sided test at 5 % in
/// `power` of all cases (0.8 is usual); infinite without degrees of freedom.
double detectable_errors(double degrees_of_freedom, double power = 0.8);

/// Quantile of the F distribution: f with P(F <= f) = confidence.
double f_quantile(double confidence, double numerator_dof, double denominator_dof);

/// Rank k (from 1) such that [x(k), x(n+1-k)] of the sorted sample covers the median with at least
/// `confidence`: the largest k with 2 P(Bin(n, 1/2) <= k-1) <= 1 - confidence. 0 when n is too
/// small (95% needs n >= 6, 99% n >= 8).
std::size_t median_interval_rank(std::size_t n, double confidence);

/// Exact distribution-free interval of the median. Errors: invalid_argument for empty or non-finite
/// input or a confidence outside (0, 1); failed_precondition when there are too few values.
Result<Interval> median_interval(std::span<const double> values, double confidence);

/// t interval of the mean of independent values, one per run. Errors: as median_interval(), with
/// two values enough.
Result<Interval> mean_interval(std::span<const double> values, double confidence);

/// Interval of the location over run medians: exact when there are enough runs, else by t.
struct RunInterval {
  Interval interval;
  IntervalMethod method = IntervalMethod::run_medians_exact;
};

/// Errors: as mean_interval() (a single run has no interval).
Result<RunInterval> run_median_interval(std::span<const double> run_medians, double confidence);

}  // namespace stripline::stats
