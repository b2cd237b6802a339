// How fast a run goes: when it was given out, when its ranks had joined, and which points it has
// reported since. What passes before the first point is its start, which comes once in each run
// however many points it measures. Pure: the caller passes the time. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "optimizer/campaign/pace.h"

namespace stripline::campaign {

class RunPace {
 public:
  explicit RunPace(double placed_s) : placed_s_(placed_s) {}

  /// All ranks have joined. Only the first call counts.
  void joined(double now_s);
  /// `points` points have been measured by now.
  void report(double now_s, uint32_t points);

  /// Nullopt until enough time was spent on points for an estimate that is not a guess.
  std::optional<Pace> pace() const;

  /// From giving it out to the first point, as far as it is known by now.
  double start_s() const;

 private:
  struct Report {
    double time_s = 0;
    uint32_t points = 0;
  };

  double placed_s_;
  std::optional<double> joined_s_;
  std::optional<Report> first_;
  std::optional<Report> last_;
};

}  // namespace stripline::campaign
