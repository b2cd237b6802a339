// Follows the ranks of a run from point to point by looks at them now and then, and decides when a
// point takes too long for the run to go on. Pure: the caller passes the time in seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimizer/experiment/experiment.h"

namespace stripline::experiment {

/// What can be seen of a rank's process without disturbing it.
struct Sight {
  uint32_t rank = 0;
  uint64_t begun = 0;    ///< points of the assignment; 0: none, or it does not record them
  bool stopped = false;  ///< by a signal, or a debugger
};

/// What a person should hear after a look.
struct PointNews {
  std::string message;          ///< empty: nothing
  bool ends_run = false;        ///< the run is to be ended, for this reason
  std::string experiment = {};  ///< that is to blame for it; empty: none
};

class PointWatch {
 public:
  /// Whoever looks does so this often, or more often.
  static constexpr double kLook_s = 5;

  /// The ranks get their work now. `place` says in messages where they are: " on nodes/a".
  PointWatch(const Assignment& assignment, std::string place, double now_s);

  /// A look at the ranks that are alive, one at least. There is news of a point that has taken 15
  /// s, and again every 15 s. One that takes longer than 30 s, and than ten times the slowest point
  /// before it, ends the run; so does a process that is stopped for 10 s. Whoever looks may have
  /// been stopped together with the ranks, or their host: of the time between two looks as much
  /// counts as two of them should take, and where it was more, processes count as stopped from the
  /// second look on.
  PointNews look(double now_s, std::span<const Sight> sights);

  /// The point with this number, from 1 on, among those that ranks take; nullopt if there is none.
  std::optional<Point> point_at(uint64_t begun) const;

  /// What to do about a run that was not over after `limit_s`: more time would not help much where
  /// one point took most of it.
  std::string advice(double now_s, double limit_s) const;

 private:
  double taken_s(double now_s) const { return now_s - since_s_; }
  PointNews judge_point(double now_s);
  PointNews judge_stopped(double now_s, const std::string& ranks) const;

  std::vector<Point> order_;
  std::string place_;
  uint64_t begun_ = 0;                     // by the rank that is furthest behind
  double since_s_;                         // it was first seen there
  double seen_s_;                          // and last
  double reported_s_;                      // when it was last said that it takes long
  double slowest_s_ = 0;                   // of the points before
  std::optional<double> stopped_since_s_;  // all looks since then saw a stopped process
};

}  // namespace stripline::experiment
