// Where the noise comes from: between runs or within them, dependence between neighbours, drift.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/summary.h"

namespace stripline::stats {

/// Components of a random-effects model of one factor, run = group. Estimated by analysis of
/// variance, unequal group sizes allowed; a negative between-run estimate is reported as zero.
struct NestedVariance {
  double between = 0.0;  ///< Variance of the true run means, squared unit of the samples.
  double within = 0.0;   ///< Variance of repetitions about their run's mean.
  double icc = 0.0;      ///< Intraclass correlation: between / (between + within); 0 if both are 0.
};

/// Pass logarithms of times to obtain relative variances. Runs without samples are skipped. Errors:
/// invalid_argument for a value that is not finite; failed_precondition with fewer than two runs,
/// or with one sample in each.
Result<NestedVariance> nested_variance(const Runs& runs);

/// Dependence between successive repetitions.
struct Dependence {
  double rho1 = 0.0;           ///< Lag-1 autocorrelation; 0 for a constant or tiny series.
  bool significant = false;    ///< |rho1| > 2 / sqrt(n).
  std::size_t batch_size = 1;  ///< Suggested batch: at least 1 / (1 - rho1) when significant.
};
Dependence lag1_dependence(std::span<const double> series);

/// Medians of consecutive batches; a trailing partial batch joins the last full one.
std::vector<double> batch_medians(std::span<const double> series, std::size_t batch_size);

/// Slope of a value over time, robust against outliers.
struct Drift {
  double slope = 0.0;      ///< Median of the pairwise slopes (Theil-Sen), value unit per x unit.
  double intercept = 0.0;  ///< median(y - slope x).
  /// From Kendall's statistic (Sen 1968), with its normal approximation; unbounded where there are
  /// too few points for the confidence (below six at 95%).
  Interval slope_interval;
  bool significant = false;  ///< The interval excludes zero.
};

/// Theil-Sen line through (x, y). Series longer than 1000 points are first reduced to 1000 medians
/// of neighbours. Errors: invalid_argument for different lengths, non-finite values, fewer than
/// three points or a confidence outside (0, 1); failed_precondition when all x are equal.
Result<Drift> theil_sen(std::span<const double> x, std::span<const double> y,
                        double confidence = 0.95);

}  // namespace stripline::stats
