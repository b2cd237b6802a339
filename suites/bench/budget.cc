#include "suites/bench/budget.h"

#include <algorithm>

namespace stripline::suites::bench {
namespace {

constexpr uint32_t kRounds = 3;
constexpr uint32_t kFewestRuns = 6;

}  // namespace

uint32_t rounds_of(size_t points, uint32_t most_reps) {
  return points > 1 ? std::clamp<uint32_t>(most_reps, 1, kRounds) : 1;
}

uint32_t affordable_runs(uint32_t asked, uint32_t done, double spent_s, double left_s) {
  const double each_s = spent_s / done;
  const uint32_t fewest = std::min(asked, std::max(done, kFewestRuns));
  // Compared as numbers: neither a budget that is overdrawn nor runs that took no time fit an
  // integer.
  if (left_s >= each_s * (asked - done)) return asked;
  const double more = std::max(0.0, left_s / each_s);
  return std::clamp(done + static_cast<uint32_t>(more), fewest, asked);
}

}  // namespace stripline::suites::bench
