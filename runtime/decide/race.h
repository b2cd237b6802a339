// Which of several ways to carry a site out is the fastest, by their times: the guard of two ways
// (optimizer/plan/guard.h) for any number of them. Each way is an arm; arm 0 is the baseline.
//
// Arms are compared two at a time: the one in use with the next one, the baseline first, as that is
// what a wrong model must not lose to. Whoever wins stays in use. Once all have been compared, the
// two fastest are compared from time to time, as long as the site is carried out. Of two arms that
// is all there is.
//
// A value; no clock, no allocation; the same times give the same turns. Not thread-safe.
#pragma once

#include <cstdint>
#include <limits>

#include "optimizer/plan/guard.h"
#include "runtime/decide/savings.h"

namespace stripline::decide {

/// The number of a way to carry a site out.
using Arm = uint8_t;
inline constexpr Arm kBaseline = 0;

class Race {
 public:
  using Of = plan::Guard::Of;

  struct Turn {
    Arm arm = kBaseline;
    bool timed = false;  ///< record() is to be called
    bool last = false;   ///< its time may change what the turns after it are
  };

  /// Nothing but the baseline.
  Race() = default;

  /// So many arms begin to be compared, with `first` in use; one: none are. `of`: how the baseline
  /// is left, if it is the first (plan::Guard::Of); `turns` holds for all arms. What was found out
  /// about other arms is dropped;
  /// executions count on, so that ranks go on comparing together.
  void start(Arm arms, Arm first, Of of = Of::site);

  /// So many ranks compare the arms at different times (plan::Guard::share_budget()).
  void share_budget(uint32_t ranks) { guard_.share_budget(ranks); }

  bool has_rivals() const { return arms_ > 1; }
  /// False while some of more than two arms have not been compared.
  bool is_settled() const { return decided_; }
  Arm in_use() const { return guard_.in_use() == Way::tuned ? tuned_ : other_; }

  /// How the next execution is to be carried out; only if there are rivals.
  Turn next();
  /// The time of an execution that next() wanted timed.
  void record(Arm arm, double seconds);

  /// Somebody who sees more than the times of this site compares it with the baseline: the arm that
  /// lost to the baseline is in use again, unless that was in use first.
  void reinstate();

  /// Adds what was found by comparing with the baseline, while that is one of the two. A tie that
  /// was tried, and is not in use, is nothing that was tuned.
  void add_to(Savings& savings) const;

 private:
  using Way = plan::Guard::Way;

  void compare(Arm holder, Arm challenger);
  void end_duel();
  Arm next_challenger();

  plan::Guard guard_;  // of tuned_ against other_
  Arm arms_ = 1;
  Arm first_ = kBaseline;
  Arm tuned_ = kBaseline;
  Arm other_ = kBaseline;
  Of of_ = Of::site;
  // While not all have been compared: the next challenger, how many are left, and of those that
  // lost the one that lost least, by the logarithm of the ratio of times.
  Arm next_ = 0;
  Arm left_ = 0;
  bool decided_ = true;
  Arm runner_up_ = kBaseline;
  double runner_up_behind_ = std::numeric_limits<double>::infinity();
};

}  // namespace stripline::decide
