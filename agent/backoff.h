// How long to wait before trying again.
#pragma once

namespace stripline::agent {

/// Exponential backoff with jitter. The delays grow by a factor up to a limit, each spread evenly
/// over +-25 %, so that agents that lost the same server do not come back in step. Pure: the random
/// number is an input.
class Backoff {
 public:
  struct Limits {
    double first_s = 0.2;
    double factor = 1.7;
    double max_s = 10;
  };

  explicit Backoff(const Limits& limits) : limits_(limits), base_s_(limits.first_s) {}

  /// The next delay in seconds, for `uniform` in [0, 1).
  double next(double uniform);

  /// Starts over: the last attempt was a success.
  void reset() { base_s_ = limits_.first_s; }

 private:
  Limits limits_;
  double base_s_;
};

}  // namespace stripline::agent
