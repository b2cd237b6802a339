// Sizes to measure: geometric grids, refinement around the best, bisection towards a breakpoint.
//
// Costs of communication change with the logarithm of a size, so every step is taken in log2. Pure
// functions: the caller measures and asks again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace stripline::search {

/// Which sizes may be proposed.
struct GridRange {
  uint64_t low = 1;          ///< Smallest size, bytes or elements; at least 1.
  uint64_t high = 1;         ///< Largest size; at least `low`.
  uint64_t multiple_of = 1;  ///< Sizes are rounded to multiples of this; at least 1.
};

/// The finest grid: neighbours differ by less than 0.07%.
inline constexpr unsigned kMaxPerOctave = 1024;

/// Ascending sizes 2^(k / per_octave) within the range, together with the range's ends rounded
/// inwards to a multiple. With per_octave = 1 these are the powers of two. Rounding never leaves
/// the range or repeats a size. Errors: invalid_argument for an empty range, one without any
/// multiple, or per_octave outside [1, kMaxPerOctave].
Result<std::vector<uint64_t>> geometric_grid(const GridRange& range, unsigned per_octave = 1);

/// A size and what it cost (median over runs, any unit, lower is better).
struct Measured {
  uint64_t size = 0;
  double cost = 0.0;
};

/// The next sizes to measure around the best so far: the geometric middle between it and each of
/// its measured neighbours, so the step in log2 halves with every call. A side ends when its step
/// is at most `min_log2_step` or no multiple lies strictly between. Empty when nothing is left to
/// refine. `measured` needs no order and may hold a size twice; entries whose cost is not finite
/// count as neighbours but never as best.
std::vector<uint64_t> refine_around_best(std::span<const Measured> measured, const GridRange& range,
                                         double min_log2_step = 0.25);

/// The size to measure next when a cost curve breaks somewhere in (low, high): their geometric
/// middle, rounded to a multiple. nullopt when high/low is at most 1 + tolerance or no multiple
/// lies strictly between them.
std::optional<uint64_t> bisect(uint64_t low, uint64_t high, uint64_t multiple_of = 1,
                               double tolerance = 0.0);

}  // namespace stripline::search
