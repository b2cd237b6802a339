// What the computation of loops has taken, by place: for loops whose sizes change from one
// execution to the next, each of which is a loop of its own to the caches of plans.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/random.h"

namespace stripline::detail {

/// A fixed table, which forgets rather than grows. Not thread-safe.
class ComputeRates {
 public:
  /// Seconds of computation on `bytes` by the loop of a site, from what was noted of about that
  /// size: sizes that differ more may differ in where their data are when they are used.
  std::optional<double> seconds(uint64_t site, uint64_t bytes) const {
    const Rate& rate = rates_[place_of(site)];
    if (!rate.tells(site, bytes)) return std::nullopt;
    return std::min(rate.newest_s, rate.before_s) * ratio(bytes, rate.bytes);
  }

  /// What one execution took. The lesser of the last two counts: one that was disturbed does not,
  /// and a body that has come to take longer is believed the second time.
  void note(uint64_t site, uint64_t bytes, double seconds) {
    Rate& rate = rates_[place_of(site)];
    const double before_s =
        rate.tells(site, bytes) ? rate.newest_s * ratio(bytes, rate.bytes) : seconds;
    rate = {site, bytes, seconds, before_s};
  }

 private:
  static constexpr size_t kBits = 8;
  static constexpr uint64_t kAlike = 2;

  struct Rate {
    uint64_t site = 0;
    uint64_t bytes = 0;
    double newest_s = 0;
    double before_s = 0;

    bool tells(uint64_t of_site, uint64_t of_bytes) const {
      return site == of_site && bytes != 0 && of_bytes <= kAlike * bytes &&
             bytes <= kAlike * of_bytes;
    }
  };

  static double ratio(uint64_t bytes, uint64_t noted_bytes) {
    return static_cast<double>(bytes) / static_cast<double>(noted_bytes);
  }
  static size_t place_of(uint64_t site) { return site * kGoldenRatio >> (64 - kBits); }

  std::array<Rate, size_t{1} << kBits> rates_{};
};

}  // namespace stripline::detail
