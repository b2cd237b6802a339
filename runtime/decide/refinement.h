// What the computation of a site takes, which plans are made for: an estimate at first, then the
// least time of the first executions, as too little is the safer error (Iancu et al., section 6.1).
// Besides, what those of them took that were carried out as the baseline, by which predictions are
// checked.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace stripline::decide {

/// A value. Not thread-safe.
class Refinement {
 public:
  /// Executions that are timed, and after how many of them the plan is first made again: the very
  /// first one also pays for cold caches and fresh pages.
  static constexpr uint32_t kTimed = 4;
  static constexpr uint32_t kFirst = 2;

  /// True if the next execution is to be timed.
  bool goes_on() const { return executions_ < kTimed; }
  /// Executions so far, of which not more than kTimed are counted.
  uint32_t executions() const { return executions_; }
  double least_s() const { return least_s_; }
  /// What the plan is made for; negative: an estimate of the mechanism.
  double planned_s() const { return planned_s_; }

  /// Before the first execution: what sites like this one took, which counts as one.
  void expect(double seconds) {
    planned_s_ = least_s_ = seconds;
    executions_ = 1;
  }
  /// The computation of an execution took `seconds`.
  void note(double seconds) {
    least_s_ = executions_ == 0 ? seconds : std::min(least_s_, seconds);
    count();
  }
  /// A whole execution as the baseline took `seconds`.
  void note_baseline(double seconds) {
    baseline_s_ = baseline_s_ > 0 ? std::min(baseline_s_, seconds) : seconds;
  }
  /// The least of these; 0: none was timed.
  double baseline_s() const { return baseline_s_; }
  /// An execution whose time does not matter.
  void count() { executions_ += executions_ < kTimed ? 1 : 0; }

  /// True if the plan is to be made again, for least_s(): what differs by a margin of decisions may
  /// decide otherwise.
  bool is_due() const {
    constexpr double kAlike = 0.02;
    if (executions_ < kFirst) return false;
    return planned_s_ < 0 || std::abs(least_s_ - planned_s_) > kAlike * planned_s_;
  }
  /// The plan is made for least_s() from now on.
  void plan() { planned_s_ = least_s_; }

 private:
  uint32_t executions_ = 0;
  double least_s_ = 0;
  double planned_s_ = -1;
  double baseline_s_ = 0;
};

}  // namespace stripline::decide
