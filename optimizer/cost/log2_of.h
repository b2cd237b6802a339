// The axis of all curves over sizes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace stripline::cost {

/// log2 of a size in bytes; no bytes count as one.
inline double log2_of(uint64_t bytes) {
  return std::log2(static_cast<double>(std::max<uint64_t>(bytes, 1)));
}

}  // namespace stripline::cost
