// A measured curve over sizes in bytes, compiled so that reading it costs a few nanoseconds.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stripline::cost {

/// A point of a curve: a value at a number of bytes.
struct CurveValue {
  uint64_t bytes = 0;
  double value = 0;
};

/// Immutable once made; safe to share between threads.
class OctaveTable {
 public:
  /// Zero everywhere.
  OctaveTable() = default;

  /// Interpolates between the points, which ascend, on a logarithmic scale of sizes; the nearest
  /// one holds outside of them. No points: zero everywhere.
  explicit OctaveTable(std::span<const CurveValue> points);

  /// The value at a size: exact at powers of two, and linear in bytes between them.
  double at(uint64_t bytes) const {
    if (bytes == 0) return at_power_[0];
    const auto power = static_cast<size_t>(std::bit_width(bytes)) - 1;
    const uint64_t beyond = bytes - (uint64_t{1} << power);
    return at_power_[power] + static_cast<double>(beyond) * slope_[power];
  }

 private:
  std::array<double, 64> at_power_{};  // at 1, 2, 4, ... bytes
  std::array<double, 64> slope_{};     // per byte, from there to the next power
};

}  // namespace stripline::cost
