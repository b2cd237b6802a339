// Comparing two methods of doing the same thing: ratios of times with intervals, and verdicts.
//
// A ratio is candidate / baseline of a cost (time): below 1 the candidate is faster. Pairs are run
// medians that were measured interleaved in the same run. Ratios are averaged only as logarithms
// (Hoefler and Belli, SC'15, rule 4).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "optimizer/stats/interval.h"

namespace stripline::stats {

/// A ratio of times with its two-sided interval.
struct Ratio {
  double value = 1.0;
  Interval interval;
  std::size_t runs = 0;  ///< Pairs, or the runs of the side that has fewer.
};

/// ln(candidate[i] / baseline[i]) per run. Errors: invalid_argument for different lengths, empty
/// input, or a time that is not a finite number above zero.
Result<std::vector<double>> paired_log_ratios(std::span<const double> candidate,
                                              std::span<const double> baseline);

/// Geometric mean of the runs' ratios with its t interval on the logarithms: the comparison to use
/// when both were measured in the same runs. Needs two runs.
Result<Ratio> paired_ratio(std::span<const double> candidate, std::span<const double> baseline,
                           double confidence = 0.95);

/// A ratio of what was measured apart.
struct UnpairedRatio {
  Ratio ratio;
  double p_value = 1;  ///< How likely such a ratio, or one further from 1, is between equals.
  /// The interval of two one-sided tests at 5 % (Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987):
  /// the ratio is within a margin if this is. Narrower than `ratio.interval`.
  Interval equivalence;
  /// By what part one side has to take longer than the other for runs like these to show it in four
  /// of five cases: the smallest difference that could have been seen. 0 where nothing varies.
  double detectable = 0;
};

/// Ratio of the geometric means of runs that were made apart from each other, of which there may be
/// more on one side, with Welch's interval and test on the logarithms. Errors: invalid_argument for
/// fewer than two runs on a side, or a time that is not a finite number above zero.
Result<UnpairedRatio> unpaired_ratio(std::span<const double> candidate,
                                     std::span<const double> baseline, double confidence = 0.95);

/// Outcome of "not slower by more than a margin".
enum class NonInferiority { non_inferior, inferior, inconclusive };
const char* to_string(NonInferiority verdict);

/// A ratio with the verdict drawn from its one-sided bounds.
struct NonInferiorityTest {
  NonInferiority verdict = NonInferiority::inconclusive;
  double ratio = 1.0;  ///< Geometric mean of the paired ratios.
  double lower = 0.0;  ///< One-sided lower bound of the ratio at `confidence`.
  double upper = 0.0;  ///< One-sided upper bound.
};

/// Is the candidate not slower than the baseline by more than `margin` (0.02 = 2%)? non_inferior
/// when the upper bound lies below 1 + margin, inferior when the lower bound lies above it, else
/// inconclusive. Each bound is one-sided at `confidence`. Errors: as paired_ratio(); a single run
/// is inconclusive with the bounds 0 and infinity, not an error.
Result<NonInferiorityTest> non_inferiority(std::span<const double> candidate,
                                           std::span<const double> baseline, double margin = 0.02,
                                           double confidence = 0.95);

/// Geometric mean of a ratio over cells (kernel, size, fabric), with one-sided bounds.
struct GeometricMean {
  double value = 1.0;
  double lower = 0.0;  ///< One-sided lower bound at the asked confidence.
  double upper = 0.0;  ///< One-sided upper bound.
  std::size_t cells = 0;
};

/// `cells` holds one vector of paired log ratios (see paired_log_ratios()) per cell. The cells are
/// taken as fixed: each weighs the same, and only run-to-run noise widens the bounds (variance
/// sum s_c^2/n_c / C^2, Welch-Satterthwaite degrees of freedom). Errors: invalid_argument for no
/// cell, a cell with fewer than two runs, or a value that is not finite.
Result<GeometricMean> geometric_mean(const std::vector<std::vector<double>>& cells,
                                     double confidence = 0.95);

}  // namespace stripline::stats
