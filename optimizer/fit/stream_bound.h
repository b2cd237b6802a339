// What a byte of a single transfer can cost, as far as streams of transfers say. A line of
// latencies that is steeper runs through two protocol switches. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

namespace stripline::fit {

/// A byte of a single transfer takes at most this many times what one of a stream takes: copies at
/// both ends and the wire add up in the one, and overlap in the other.
inline constexpr double kMostOverStream = 3.0;

/// Thread-safe as a constant.
class StreamBound {
 public:
  /// Seconds of each transfer in a stream, by its size in bytes. Empty: nothing is bounded.
  explicit StreamBound(std::map<uint64_t, double> each_s) : each_s_(std::move(each_s)) {}

  /// Seconds a byte, by the streams of the sizes around `bytes`; by those of the largest size for
  /// what is larger. Infinite where no stream takes any time.
  double most_per_byte(uint64_t bytes) const;

 private:
  std::map<uint64_t, double> each_s_;
};

}  // namespace stripline::fit
