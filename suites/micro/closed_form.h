// The data of experiments that sum something up, and what the sum must be. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stripline::suites {

/// The elements count 0, 1, ..., kCycle - 1 and begin again: small integers, so that every order of
/// summation is exact, in a cycle that no power of two divides, so that a strip from the wrong
/// place changes the sum.
inline constexpr size_t kCycle = 127;
constexpr double cyclic_element(size_t i) { return static_cast<double>(i % kCycle); }

/// The sum of the elements 0 to `count` - 1.
constexpr uint64_t cyclic_sum(size_t count) {
  const size_t rest = count % kCycle;
  return count / kCycle * (kCycle * (kCycle - 1) / 2) + (rest * rest - rest) / 2;
}

}  // namespace stripline::suites
