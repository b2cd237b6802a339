// The fastest of several methods of carrying a site out, by their times: the guard of two
// (optimizer/plan/guard.h) for any number of them. Each method is an arm; arm 0 is the baseline.
//
// Arms are compared two at a time: the one in use with the next one, the baseline first, as that is
// what a wrong model must not lose to. Whoever wins stays in use. Once all have been compared, the
// two fastest are compared from time to time, as long as the site is carried out. Of two arms that
// is all there is.
//
// A value; no clock, no allocation; the same times give the same turns. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "optimizer/plan/guard.h"
#include "runtime/decide/savings.h"

namespace stripline::decide {

/// The number of a method to carry a site out.
using Arm = uint8_t;
inline constexpr Arm kBaseline = 0;

class Race {
 public:
  using Of = plan::Guard::Of;

  /// The most arms that are compared.
  static constexpr Arm kMaxArms = 8;

  struct Turn {
    Arm arm = kBaseline;
    bool check = false;    ///< as plan::Guard::Turn
    bool settles = false;  ///< likewise
    bool last = false;     ///< likewise
  };

  /// Nothing but the baseline.
  Race() = default;

  /// Begins to compare this number of arms, with `first` in use; one: none are compared. `of`: how
  /// the baseline is left, if it is the first (plan::Guard::Of); `turns` holds for all arms. What
  /// was found out about other arms, and expected of them, is dropped; executions count on, so that
  /// ranks go on comparing together, and so does what comparing has taken. `same`: the arm in use
  /// is `first`, and carried out as it was, so that its times hold.
  void start(Arm arms, Arm first, Of of = Of::site, bool same = false);
  /// What is predicted of the arms, in order, after start(); and what an execution as the baseline
  /// took before that (plan::Guard::remember()).
  void expect(std::span<const plan::Guard::Forecast> forecasts, double baseline_before_s = 0);
  /// The same for predictions without intervals; 0: none is known of that arm.
  void expect_times(std::span<const double> seconds, double baseline_before_s = 0);

  /// After start(): each of the other arms, in turn, is checked as soon as the one in use has been
  /// timed (plan::Guard::check_at_once()); once, whatever its time says, so that ranks whose times
  /// differ check the same arm at the same executions. The two that are the fastest by these checks
  /// are compared further.
  void check_at_once() {
    at_once_ = true;
    guard_.check_at_once();
  }
  /// This many ranks compare the arms at different times (plan::Guard::share_budget()).
  void share_budget(uint32_t ranks) { guard_.share_budget(ranks); }

  bool has_rivals() const { return arms_ > 1; }
  Arm in_use() const { return guard_.in_use() == Method::tuned ? tuned_ : other_; }

  /// How the next execution is to be carried out; only if there are rivals.
  Turn next();
  /// The time of an execution of a turn.
  void record(const Turn& turn, double seconds);
  /// The execution of the turn that next() returned last has done nothing that the arms differ in
  /// (plan::Guard::give_back()).
  void give_back(const Turn& turn) { guard_.give_back(of_guard(turn)); }

  /// Somebody who sees more than the times of this site has found that the baseline is faster than
  /// the arm in use: it is carried out from now on, and nothing is compared any more.
  void demote();
  bool is_demoted() const { return has_rivals() && guard_.is_demoted() && in_use() == kBaseline; }

  /// How much longer than the arm in use the baseline takes, as far as that is measured or
  /// predicted.
  std::optional<double> baseline_excess_s() const;
  /// What the arm in use takes, measured or predicted; 0: nothing is known of it.
  double used_s() const;

  /// Adds what comparing has taken; and what was found by comparing with the baseline, while that
  /// is one of the two. A tie that was tried, and is not in use, is nothing that was tuned.
  void add_to(Savings& savings) const;

 private:
  using Method = plan::Guard::Method;

  plan::Guard::Turn of_guard(const Turn& turn) const;
  void compare(Arm holder, Arm challenger, bool same = false);
  void end_duel(const Turn& turn);
  void settle(double lead, uint64_t left_out = 0);
  void tell_guard();
  Arm next_challenger();

  plan::Guard guard_;  // of tuned_ against other_
  std::array<plan::Guard::Forecast, kMaxArms> forecasts_{};
  double baseline_before_s_ = 0;
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
  bool at_once_ = false;
  Arm runner_up_ = kBaseline;
  double runner_up_behind_ = std::numeric_limits<double>::infinity();
  bool runner_up_is_slower_ = false;  // beyond the uncertainty of its checks
};

}  // namespace stripline::decide
