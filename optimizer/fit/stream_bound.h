// What a byte of a single transfer can cost, as far as streams of transfers say. A line of
// latencies that is steeper runs through two protocol switches. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace stripline::fit {

/// A line of latencies through this many sizes may be what it seems; fewer lie on one by chance.
inline constexpr std::size_t kPointsOfALine = 5;

/// How many times what a byte of a stream takes one of a single transfer can take, by a line
/// through this many sizes: copies at both ends and the wire add up in a transfer and overlap in a
/// stream. A line that says little is not to contradict what streams say of the same sizes.
constexpr double most_over_stream(std::size_t points) { return points < kPointsOfALine ? 1 : 3; }

/// Thread-safe as a constant.
class StreamBound {
 public:
  /// Seconds of each transfer in a stream, by its size in bytes; sizes that seem to take no time
  /// say nothing. Empty: nothing is bounded.
  explicit StreamBound(std::map<uint64_t, double> each_s);

  /// Seconds that a byte of a stream takes, by those of the sizes around `bytes`; by those of the
  /// largest size for what is larger. Infinite where no stream takes any time.
  double per_byte(uint64_t bytes) const;

 private:
  std::map<uint64_t, double> each_s_;
};

}  // namespace stripline::fit
