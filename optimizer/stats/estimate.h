// Comparing estimates that were made apart from each other: parameters of two models, with their
// intervals. Where both sides were measured in the same runs, compare.h says more.
#pragma once

#include <cstddef>
#include <span>

#include "optimizer/stats/interval.h"

namespace stripline::stats {

/// A value with its 95 % interval, made of this many runs.
struct Estimate {
  double value = 0;
  Interval interval;
  std::size_t runs = 0;
};

/// A cost: less of it is faster.
enum class Verdict {
  faster,        ///< surely less
  slower,        ///< surely more
  equivalent,    ///< surely no further apart than the margin
  inconclusive,  ///< neither
};
/// "FASTER", "SLOWER", "EQUIVALENT", "INCONCLUSIVE".
const char* to_string(Verdict verdict);

struct EstimateComparison {
  Verdict verdict = Verdict::inconclusive;
  Interval difference;  ///< candidate less baseline, 95 %
  /// The difference that estimates like these would show in four of five cases; infinite where
  /// nothing can be said.
  double detectable = 0;
  /// How likely such a difference is between equals; 1 where nothing can be said.
  double p_value = 1;
};

/// What two figures may differ by and still do the same.
inline constexpr double kEquivalenceMargin = 0.02;

/// The difference of two independent estimates with the interval that their own intervals give it
/// (MOVER: Donner and Zou, Stat. Methods Med. Res. 21, 2012), which need not be symmetric.
/// Equivalent where two one-sided tests at 5 % have it within `margin` of the baseline's value,
/// whichever side of zero it is on; else faster or slower where the interval lies on one side.
/// Equal estimates without any width are equivalent. `p_value` is that of Welch's test, with the
/// errors that the intervals imply.
EstimateComparison compare_estimates(const Estimate& candidate, const Estimate& baseline,
                                     double margin = kEquivalenceMargin);

/// Among many comparisons some differ by chance. Makes those inconclusive that are faster or slower
/// and no discoveries at a false discovery rate of `rate` (Benjamini and Hochberg 1995).
void control_false_discoveries(std::span<EstimateComparison> all, double rate = 0.05);

}  // namespace stripline::stats
