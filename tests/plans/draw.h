// Random values that are the same with every compiler and library: no std:: distribution, and no
// logarithm whose last digit another library rounds otherwise.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/random.h"

namespace stripline::plan_corpus {

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  uint64_t bits() { return random_.next(); }
  uint64_t below(uint64_t limit) { return bits() % limit; }
  uint64_t between(uint64_t least, uint64_t most) { return least + below(most - least + 1); }
  bool one_in(uint64_t times) { return below(times) == 0; }
  /// From 1 to nearly 2^`log2_limit`, every power of two as often.
  uint64_t size(uint32_t log2_limit) {
    const uint64_t power = below(log2_limit);
    return (uint64_t{1} << power) + below(uint64_t{1} << power);
  }
  /// From `least` to nearly `least` 2^`octaves`, every octave as often.
  double scaled(double least, int octaves) {
    const auto octave = static_cast<int>(below(static_cast<uint64_t>(octaves)));
    const double mantissa = 1 + static_cast<double>(below(1U << 20)) / (1U << 20);
    return std::ldexp(least * mantissa, octave);
  }

 private:
  SplitMix64 random_;
};

}  // namespace stripline::plan_corpus
