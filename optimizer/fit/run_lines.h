// One line per run through a curve of costs by size: the step between medians and parameters.
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "optimizer/fit/samples.h"

namespace stripline::fit {

/// A cost by size and run.
using SizeCurve = std::map<uint64_t, RunMedians>;

/// Intercept and slope in bytes.
struct RunLine {
  double intercept = 0.0;
  double slope = 0.0;
};

/// Lines of all runs that have enough sizes.
struct RunLines {
  /// What later steps subtract: bounded. When the runs' mean slope (or intercept) is negative,
  /// which no cost can be, all runs are refitted with it at zero, so that the other one is not
  /// biased.
  std::map<uint32_t, RunLine> used;
  /// Estimates for publication, in run order. An interval needs their spread without bounds, so a
  /// coefficient that was found negative keeps its unbounded estimates, and the other one the
  /// refitted ones. The slopes are empty when only one size was measured.
  std::vector<double> free_intercepts;
  std::vector<double> free_slopes;
  /// Mean over the runs of the slope's variance by the residuals: which of two estimates is the
  /// more precise one, judged without looking at how far the runs happen to agree.
  double slope_variance = 0.0;
  /// How well a line fits the means over runs: variance of its coefficients by the residuals, and
  /// their degrees of freedom (0: no residuals, the variances mean nothing).
  double intercept_misfit = 0.0;
  double slope_misfit = 0.0;
  double misfit_freedom = 0.0;
};

/// Weights by size, 1 / (typical value)^2, so that residuals are relative. A size whose runs
/// disagree significantly more than those of the typical size, e.g. because the time budget allowed
/// it one repetition only, counts less in proportion; what a run is faster or slower by at all
/// sizes does not count as disagreement. Taking the weight from every size's own spread instead
/// would favour the sizes that agree by chance and make intervals too narrow.
std::map<uint64_t, double> weights_of(const SizeCurve& curve);

/// Fits weighted lines, Huber's loss when `robust`. Weights are relative and common to all
/// runs, from the medians over runs (a run's own values in its weights would bias it) of
/// `measured`: what was timed to obtain the curve, because noise is relative to that. It holds the
/// curve's sizes. With a single size the lines are constants. Runs with fewer than two of several
/// sizes are left out. Where slopes are negative in the mean, or exceed `most_slope`, all lines
/// get 0, or that.
RunLines fit_run_lines(const SizeCurve& curve, const SizeCurve& measured, bool robust,
                       double most_slope = std::numeric_limits<double>::infinity());

/// Lines of this slope through the same points, with the weights of fit_run_lines(). For sizes that
/// lie too close together to have a slope of their own.
RunLines fit_run_lines_of_slope(const SizeCurve& curve, const SizeCurve& measured, double slope);

/// Replaces each run's value by median (1 + ln(value / median)), the median being that over runs,
/// in place. Noise of times is multiplicative and skewed; averages of the result estimate the
/// median run where averages of the times would lie above it, and single slow runs count less.
/// Values below half of the median go to zero linearly; those that are not above zero stay.
void linearize_logs(SizeCurve& curve);

/// curve - line, run by run. Without any lines the curve itself; runs without a line are left out
/// otherwise.
SizeCurve subtract(const SizeCurve& curve, const RunLines& lines);

/// Lines of the same slopes through the mean of each run's points in `inside`; those of runs that
/// have none there stay. For sizes too few for slopes of their own, on the other side of a switch.
RunLines levelled(RunLines lines, const SizeCurve& inside);

/// Sum of the used lines of the runs that both have; the estimates for publication are left empty.
RunLines add(const RunLines& a, const RunLines& b);

/// The sizes in [range.from, range.to).
template <typename Range>
SizeCurve slice(const SizeCurve& curve, const Range& range) {
  return SizeCurve(curve.lower_bound(range.from), curve.lower_bound(range.to));
}

/// `value` of the curve's entries at a size: linear between its sizes, constant beyond them. The
/// curve, a map by size, must not be empty.
template <typename Curve, typename Value>
double linear_between(const Curve& curve, uint64_t bytes, Value value) {
  const auto above = curve.lower_bound(bytes);
  if (above == curve.end()) return value(curve.rbegin()->second);
  if (above->first == bytes || above == curve.begin()) return value(above->second);
  const auto below = std::prev(above);
  const double share =
      static_cast<double>(bytes - below->first) / static_cast<double>(above->first - below->first);
  const double low = value(below->second);
  return low + share * (value(above->second) - low);
}

/// The curve's median over runs at a size, or one run's value (the median where the run lacks the
/// size).
double interpolate(const SizeCurve& curve, uint64_t bytes,
                   std::optional<uint32_t> run = std::nullopt);

}  // namespace stripline::fit
