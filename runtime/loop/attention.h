// How often a rank that goes through a loop looks for what its peers ask of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/fabric/fabric.h"

namespace stripline::detail {

/// What a look takes this rank: the shortest of the first few, which served no one.
class LookTime {
 public:
  /// True if enough have been timed.
  bool known() const { return timed_ == kTimed; }
  /// 0 until it is known.
  double seconds() const { return known() ? shortest_s_ : 0; }
  void note(double seconds) {
    shortest_s_ = std::min(shortest_s_, seconds);
    ++timed_;
  }

 private:
  static constexpr uint32_t kTimed = 8;

  uint32_t timed_ = 0;
  double shortest_s_ = std::numeric_limits<double>::infinity();
};

/// Counts the steps of a loop between two looks. Where operations go on without calls, a look
/// serves nothing but messages of peers, and is made so seldom that all of them take a small part
/// of the loop. Elsewhere the transfers of the loop and those of its peers depend on calls, and
/// every step is followed by one.
class Attention {
 public:
  /// Looks after every step.
  Attention() = default;

  /// For steps that are expected to take `step_s` seconds, and looks that take `look_s`. Where
  /// nothing is expected (0), a step is timed: the one between the first two looks. If looks have
  /// not been timed yet (0), as the other one.
  Attention(const fabric::Info& info, double look_s, double step_s) {
    if (!info.goes_on_without_calls || !(look_s > 0)) return;
    look_s_ = look_s;
    if (step_s > 0) expect(step_s);
  }

  /// After a step: whether to look now.
  bool due() {
    if (++steps_ < every_) return false;
    steps_ = 0;
    return true;
  }
  /// The rank has waited, and served its peers meanwhile.
  void has_looked() {
    steps_ = 0;
    looked_s_ = -1;
  }

  /// True if has_looked_at() is to be called after a look.
  bool times_steps() const { return look_s_ > 0 && every_ == 1; }
  void has_looked_at(double now_s) {
    if (looked_s_ >= 0) expect(now_s - looked_s_ - look_s_);
    looked_s_ = now_s;
  }

 private:
  static constexpr double kMostShare = 0.005;  // of the loop's time
  static constexpr double kMostSteps = 1 << 20;

  void expect(double step_s) {
    const double steps = std::ceil(look_s_ / (kMostShare * std::max(step_s, 1e-12)));
    every_ = static_cast<uint32_t>(std::clamp(steps, 1.0, kMostSteps));
    if (every_ == 1) look_s_ = 0;  // long steps
  }

  uint32_t every_ = 1;
  uint32_t steps_ = 0;
  double look_s_ = 0;     // while steps are to be timed, or have been
  double looked_s_ = -1;  // after the step before; negative: not then
};

}  // namespace stripline::detail
