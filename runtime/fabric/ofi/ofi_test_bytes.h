// Test data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stripline::fabric::ofi {

/// Bytes that tell their position and a seed.
inline std::vector<std::byte> pattern(size_t bytes, uint32_t seed) {
  std::vector<std::byte> data(bytes);
  uint32_t state = seed * 2654435761U + 1;
  for (std::byte& value : data) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<std::byte>(state >> 24);
  }
  return data;
}

}  // namespace stripline::fabric::ofi
