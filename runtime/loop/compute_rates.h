// What the computation of loops has taken, by place: for loops whose sizes change from one
// execution to the next, each of which is a loop of its own to the caches of plans.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace stripline::detail {

/// A fixed table, which forgets rather than grows. Not thread-safe.
class ComputeRates {
 public:
  /// Seconds of computation on `bytes` by the loop of a site, from what was noted of about that
  /// size: sizes that differ more may differ in where their data are when they are used.
  std::optional<double> seconds(uint64_t site, uint64_t bytes) const {
    const Rate& rate = rates_[place_of(site)];
    if (rate.site != site || rate.bytes == 0) return std::nullopt;
    if (bytes > kAlike * rate.bytes || rate.bytes > kAlike * bytes) return std::nullopt;
    return rate.seconds * (static_cast<double>(bytes) / static_cast<double>(rate.bytes));
  }

  void note(uint64_t site, uint64_t bytes, double seconds) {
    rates_[place_of(site)] = {site, bytes, seconds};
  }

 private:
  static constexpr size_t kBits = 8;
  static constexpr uint64_t kAlike = 2;

  struct Rate {
    uint64_t site = 0;
    uint64_t bytes = 0;
    double seconds = 0;
  };

  static size_t place_of(uint64_t site) { return site * 0x9e3779b97f4a7c15 >> (64 - kBits); }

  std::array<Rate, size_t{1} << kBits> rates_{};
};

}  // namespace stripline::detail
