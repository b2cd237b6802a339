// The pseudo-random numbers of the NAS Parallel Benchmarks (Bailey et al., NAS-91-002,
// section 2.3).
#pragma once

#include <cstdint>

namespace stripline::suites::nas {

/// The linear congruential sequence x_{k+1} = a x_k mod 2^46 with a = 5^13, whose numbers are
/// uniform in (0, 1) as x_k 2^-46. The specification computes it in floating point; products modulo
/// 2^64 keep their low 46 bits, so that integers give exactly the same numbers.
class NasRandom {
 public:
  static constexpr uint64_t kMultiplier = 1220703125;  // 5^13
  static constexpr uint64_t kSeed = 314159265;

  explicit constexpr NasRandom(uint64_t seed = kSeed) : state_(seed) {}

  /// The next number.
  constexpr double next() {
    state_ = (state_ * kMultiplier) & kMask;
    return static_cast<double>(state_) * 0x1p-46;
  }

  /// Leaves out the next `count` numbers, in O(log count): x_{k+n} = (a^n mod 2^46) x_k mod 2^46.
  constexpr void skip(uint64_t count) {
    uint64_t power = kMultiplier;
    for (; count != 0; count /= 2) {
      if (count % 2 != 0) state_ = (state_ * power) & kMask;
      power = (power * power) & kMask;
    }
  }

  /// x_k itself.
  constexpr uint64_t state() const { return state_; }

 private:
  static constexpr uint64_t kMask = (uint64_t{1} << 46) - 1;
  uint64_t state_;
};

}  // namespace stripline::suites::nas
