// Offsets, strides and sizes that may be too large for a number: the result is then the number that
// is nearest, which no segment has.
#pragma once

#include <cstdint>
#include <limits>

namespace stripline::access {

/// A number whose negative is a number, too.
inline constexpr int64_t kFarthest = std::numeric_limits<int64_t>::max();

inline int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum) && sum >= -kFarthest) return sum;
  return a < 0 ? -kFarthest : kFarthest;
}

inline int64_t saturating_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product) && product >= -kFarthest) return product;
  return (a < 0) == (b < 0) ? kFarthest : -kFarthest;
}

/// Sizes.
inline uint64_t saturating_add(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<uint64_t>::max() : sum;
}

inline uint64_t saturating_multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<uint64_t>::max() : product;
}

/// From the first of `count` iterations to the last; at least one.
inline int64_t saturating_span(int64_t stride, uint64_t count) {
  const uint64_t steps = count - 1;
  if (steps > static_cast<uint64_t>(kFarthest)) {
    return stride == 0 ? 0 : saturating_multiply(stride, kFarthest);
  }
  return saturating_multiply(stride, static_cast<int64_t>(steps));
}

}  // namespace stripline::access
