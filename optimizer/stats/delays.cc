#include "optimizer/stats/delays.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "optimizer/stats/order.h"

namespace stripline::stats {
namespace {

// This many standard deviations above the location one of 740 normal times lies.
constexpr double kFar = 3;
// The mode is less certain than a median.
constexpr double kFarFromMode = 4;
// The spread of few times is itself uncertain: all of that is larger by this over their number.
constexpr double kOfFew = 8;
// Least share of the times, and least number of them: of a few, two may be far by chance.
constexpr double kLeastShare = 0.1;
constexpr std::size_t kLeastDelayed = 3;
// The mode is looked for in the densest third, which delays of more than half of the times are not,
// as they differ by more.
constexpr std::size_t kDense = 3;
constexpr int kRounds = 3;

// Mode of ascending values.
double half_sample_mode(std::span<const double> sorted) {
  std::size_t part = kDense;
  while (sorted.size() > 2) {
    const std::size_t half = std::max<std::size_t>(2, (sorted.size() + part - 1) / part);
    part = 2;
    std::size_t densest = 0;
    for (std::size_t i = 1; i + half <= sorted.size(); ++i) {
      const auto width = [&](std::size_t from) { return sorted[from + half - 1] - sorted[from]; };
      if (width(i) < width(densest)) densest = i;
    }
    sorted = sorted.subspan(densest, half);
  }
  return sorted.size() == 2 ? (sorted[0] + sorted[1]) / 2 : sorted[0];
}

// A normal standard deviation by what is below the location alone.
double spread_below(std::span<const double> sorted, double location) {
  std::vector<double> below;
  for (const double value : sorted) {
    if (value < location) below.push_back(location - value);
  }
  return below.empty() ? 0 : kNormalMadScale * median(below);
}

}  // namespace

Delays find_delays(std::span<const double> times) {
  if (times.size() < kLeastForDelays) return {};
  std::vector<double> sorted;
  for (const double time : times) {
    if (!(time > 0) || !std::isfinite(time)) return {};
    sorted.push_back(std::log(time));
  }
  std::ranges::sort(sorted);
  double location = half_sample_mode(sorted);
  const double of_few = 1 + kOfFew / static_cast<double>(sorted.size());
  double limit = location + of_few * kFarFromMode * spread_below(sorted, location);
  for (int round = 0; round < kRounds; ++round) {
    const auto kept =
        static_cast<std::size_t>(std::ranges::upper_bound(sorted, limit) - sorted.begin());
    if (kept == 0) return {};
    const std::span<const double> undelayed(sorted.data(), kept);
    location = median(undelayed);
    limit = location + of_few * kFar * spread_below(undelayed, location);
  }
  // Without any spread all of it may be noise of the clock.
  if (!(limit > location)) return {};
  Delays delays{std::exp(limit), 0};
  delays.delayed = static_cast<std::size_t>(
      std::ranges::count_if(times, [&](double time) { return time > delays.limit; }));
  if (delays.delayed < kLeastDelayed ||
      static_cast<double>(delays.delayed) < kLeastShare * static_cast<double>(times.size()))
    return {};
  return delays;
}

}  // namespace stripline::stats
