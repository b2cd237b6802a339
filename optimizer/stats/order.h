// Order statistics and moments of one sample. Pure; the inputs need not be sorted.
//
// An empty sample, or one that holds a NaN, gives NaN, and infinite values may do so: callers at a
// boundary check with check_finite() (interval.h) first.
#pragma once

#include <cstddef>
#include <span>

namespace stripline::stats {

/// The median; the mean of the middle two for an even count.
double median(std::span<const double> values);

/// Quantile q in [0, 1] with linear interpolation between order statistics (Hyndman and Fan's
/// type 7).
double quantile(std::span<const double> values, double q);

/// The median absolute deviation times this estimates the standard deviation of a normal sample.
inline constexpr double kNormalMadScale = 1.4826;

/// Mean and unbiased variance (0 for a single value).
struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};
Moments mean_and_variance(std::span<const double> values);

/// How many values lie outside Tukey's fences [Q1 - 1.5 IQR, Q3 + 1.5 IQR] (Exploratory Data
/// Analysis, 1977). They are counted and shown, never deleted.
struct OutlierCounts {
  std::size_t low = 0;
  std::size_t high = 0;
  double fence_low = 0.0;
  double fence_high = 0.0;
};
OutlierCounts tukey_outliers(std::span<const double> values);

}  // namespace stripline::stats
