#include "runtime/decide/race.h"

#include <algorithm>
#include <cmath>

namespace stripline::decide {
namespace {

// Checks of a duel, unless it ends sooner; and by how much an arm that is not tried again is
// slower.
constexpr uint32_t kChecks = 4;
constexpr double kHopeless = 2;

}  // namespace

void Race::start(Arm arms, Arm first, Of of, bool same) {
  same = same && has_rivals() && in_use() == first;
  arms_ = arms;
  first_ = first;
  of_ = of;
  next_ = kBaseline;
  left_ = arms > 1 ? static_cast<Arm>(arms - 1) : Arm{0};
  decided_ = arms <= 2;
  at_once_ = false;
  runner_up_behind_ = std::numeric_limits<double>::infinity();
  forecasts_ = {};
  baseline_before_s_ = 0;
  if (arms > 1) {
    compare(first, next_challenger(), same);
  } else {
    tuned_ = other_ = first;
  }
}

// All but the first, in order.
Arm Race::next_challenger() {
  if (next_ == first_) ++next_;
  --left_;
  return next_++;
}

void Race::compare(Arm holder, Arm challenger, bool same) {
  const bool baseline_holds = holder == kBaseline;
  tuned_ = baseline_holds ? challenger : holder;
  other_ = baseline_holds ? holder : challenger;
  guard_.restart(baseline_holds || of_ == Of::turns ? of_ : Of::site,
                 baseline_holds ? Method::baseline : Method::tuned, same);
  tell_guard();
}

void Race::tell_guard() {
  // What was seen of the baseline says more than what is predicted.
  if (other_ == kBaseline) {
    guard_.remember(Method::baseline, baseline_before_s_);
  } else {
    guard_.keep_until_checked();
  }
  guard_.expect(forecasts_.at(tuned_), forecasts_.at(other_));
}

void Race::expect(std::span<const plan::Guard::Forecast> forecasts, double baseline_before_s) {
  std::copy_n(forecasts.begin(), std::min<size_t>(forecasts.size(), kMaxArms), forecasts_.begin());
  baseline_before_s_ = baseline_before_s;
  tell_guard();
}

void Race::expect_times(std::span<const double> seconds, double baseline_before_s) {
  std::array<plan::Guard::Forecast, kMaxArms> forecasts;
  const size_t arms = std::min(seconds.size(), forecasts.size());
  for (size_t arm = 0; arm < arms; ++arm) {
    forecasts.at(arm) = {seconds[arm], seconds[arm], seconds[arm]};
  }
  expect(std::span(forecasts).first(arms), baseline_before_s);
}

Race::Turn Race::next() {
  // No one waits for an arm that is not tried.
  if (!decided_ && guard_.is_beyond_doubt()) settle(std::log(kHopeless));
  const plan::Guard::Turn turn = guard_.next();
  return {turn.method == Method::tuned ? tuned_ : other_, turn.check, turn.settles, turn.last};
}

plan::Guard::Turn Race::of_guard(const Turn& turn) const {
  return {.method = turn.arm == tuned_ ? Method::tuned : Method::baseline,
          .check = turn.check,
          .settles = turn.settles,
          .last = turn.last};
}

void Race::record(const Turn& turn, double seconds) {
  if (turn.arm != tuned_ && turn.arm != other_) return;
  const uint32_t checks = guard_.checks();
  guard_.record(of_guard(turn), seconds);
  if (!decided_ && guard_.checks() > checks) end_duel(turn);
}

// Goes on to the next challenger if this one is known to be faster or slower, or each is to be
// checked at once. A check of which one execution was enough has left the second one out.
void Race::end_duel(const Turn& turn) {
  const bool changed = guard_.in_use() != guard_.begun_with();
  const double lead = guard_.ahead();
  if (!changed && !at_once_ && guard_.checks() < kChecks && !guard_.is_sure() &&
      lead < std::log(kHopeless)) {
    return;
  }
  settle(lead, turn.last ? 0 : 1);
}

// The arm in use has won, by this logarithm of the ratio of times. Other ranks may still carry out
// the executions that this one has `left_out`.
void Race::settle(double lead, uint64_t left_out) {
  const Arm winner = in_use();
  const Arm loser = winner == tuned_ ? other_ : tuned_;
  // Arms that lost to an arm that has lost now were slower than that.
  if (guard_.in_use() != guard_.begun_with() || lead < runner_up_behind_) {
    runner_up_ = loser;
    runner_up_behind_ = lead;
    runner_up_is_slower_ = guard_.is_sure() || lead >= std::log(kHopeless);
  }
  if (left_ > 0) {
    compare(winner, next_challenger(), true);
    if (at_once_) guard_.check_at_once(left_out);
    return;
  }
  decided_ = true;
  if (runner_up_ == loser) return;
  compare(winner, runner_up_, true);
  // Its one check does not show which of the two is faster.
  if (at_once_ && !runner_up_is_slower_) guard_.check_at_once(left_out);
}

void Race::demote() {
  if (!has_rivals() || in_use() == kBaseline) return;
  decided_ = true;
  left_ = 0;
  if (other_ != kBaseline) compare(in_use(), kBaseline);
  guard_.demote();
}

std::optional<double> Race::baseline_excess_s() const {
  const double used_s = guard_.used_s();
  if (other_ == kBaseline && guard_.checks() > 0) return std::expm1(guard_.ahead()) * used_s;
  const plan::Guard::Forecast& baseline = forecasts_[kBaseline];
  const plan::Guard::Forecast& used = forecasts_.at(in_use());
  if (!baseline.known() || !used.known()) return {};
  return baseline.seconds - used.seconds;
}

double Race::used_s() const {
  const double used_s = guard_.used_s();
  return used_s > 0 ? used_s : forecasts_.at(in_use()).seconds;
}

void Race::add_to(Savings& savings) const {
  savings.taken_s += guard_.taken_s();
  savings.excess_s += guard_.excess_s();
  if (other_ != kBaseline || (first_ == kBaseline && in_use() == kBaseline)) return;
  savings.add(guard_);
  // By somebody else.
  if (is_demoted() && guard_.checks() == 0) {
    savings.sites += 1;
    savings.demoted += 1;
  }
}

}  // namespace stripline::decide
