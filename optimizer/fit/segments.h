// Segmented regression: where a protocol switches, and how surely.
//
// A cost is a straight line in the size within a segment. The breaks are found by dynamic
// programming over all partitions, with the sum of squares of any range of points at hand from
// prefix sums; their number by BIC, preferring fewer (docs/measurement.md, "Experiments"). Several
// curves that switch together (latency and stream) are searched jointly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/result.h"

namespace stripline::fit {

/// One point of a cost curve.
struct CurvePoint {
  uint64_t bytes = 0;
  double value = 0.0;   ///< E.g. seconds.
  double weight = 1.0;  ///< 1/value^2 makes residuals relative; noisier points count less.
  /// What a byte of a stream takes at this size (stream_bound.h): a line through the point rises by
  /// most_over_stream() times as much at most. Without it two switches close to each other pass for
  /// a steep line.
  double stream_slope = std::numeric_limits<double>::infinity();
};
using Curve = std::vector<CurvePoint>;

struct SegmentOptions {
  double confidence = 0.95;
  /// Relative standard error of a point, where repetitions tell; 0: the residuals have to. By it a
  /// segment needs kPointsOfKnownNoise points only: a coarse grid has no more on one side of a
  /// switch. It counts where it shows more breaks than the residuals do.
  double noise = 0;
};
inline constexpr std::size_t kPointsOfKnownNoise = 2;

/// A protocol switch between two measured sizes.
struct Breakpoint {
  uint64_t last_below = 0;   ///< Largest measured size of the lower segment.
  uint64_t first_above = 0;  ///< Smallest measured size of the upper one.
  /// First size of the new segment: the geometric middle of the two. More sizes between them would
  /// narrow it.
  uint64_t from_bytes = 0;
  /// The switch lies in (interval_low, interval_high]: all places whose sum of squares passes the
  /// F test against the best one.
  uint64_t interval_low = 0;
  uint64_t interval_high = 0;
};

/// Breaks in ascending order; none means one line fits.
struct Segmentation {
  std::vector<Breakpoint> breaks;
  double misfit = 0.0;  ///< Root mean square residual, relative when the weights are 1/value^2.
};

/// Segments the curves jointly. The first curve must hold 4 points in every segment; further ones
/// may lack points there. Points need no order; a size may appear once per curve. Errors:
/// invalid_argument for no curve, an empty first curve, a repeated size, a value or weight that is
/// not finite, or a negative weight.
Result<Segmentation> segment_curves(std::span<const Curve> curves,
                                    const SegmentOptions& options = {});

}  // namespace stripline::fit
