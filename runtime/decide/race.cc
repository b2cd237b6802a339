#include "runtime/decide/race.h"

#include <cmath>

namespace stripline::decide {
namespace {

// Checks of a duel, unless it ends sooner; and by how much an arm that is not tried again is
// slower.
constexpr uint32_t kChecks = 4;
constexpr double kHopeless = 2;

}  // namespace

void Race::start(Arm arms, Arm first, Of of) {
  arms_ = arms;
  first_ = first;
  of_ = of;
  next_ = kBaseline;
  left_ = arms > 1 ? static_cast<Arm>(arms - 1) : Arm{0};
  decided_ = arms <= 2;
  runner_up_behind_ = std::numeric_limits<double>::infinity();
  if (arms > 1) {
    compare(first, next_challenger());
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

void Race::compare(Arm holder, Arm challenger) {
  const bool baseline_holds = holder == kBaseline;
  tuned_ = baseline_holds ? challenger : holder;
  other_ = baseline_holds ? holder : challenger;
  guard_.restart(baseline_holds || of_ == Of::turns ? of_ : Of::site,
                 baseline_holds ? Way::baseline : Way::tuned);
}

Race::Turn Race::next() {
  const plan::Guard::Turn turn = guard_.next();
  return {turn.way == Way::tuned ? tuned_ : other_, turn.timed, turn.last};
}

void Race::record(Arm arm, double seconds) {
  guard_.record(arm == tuned_ ? Way::tuned : Way::baseline, seconds);
  if (!decided_) end_duel();
}

// Goes on to the next challenger if this one is known to be faster or slower.
void Race::end_duel() {
  const bool changed = guard_.in_use() != guard_.begun_with();
  const double lead = guard_.ahead();
  if (!changed && guard_.checks() < kChecks && !guard_.is_sure() && lead < std::log(kHopeless)) {
    return;
  }
  const Arm winner = in_use();
  const Arm loser = winner == tuned_ ? other_ : tuned_;
  // Those who lost to an arm that has lost now were slower than that.
  if (changed || lead < runner_up_behind_) {
    runner_up_ = loser;
    runner_up_behind_ = lead;
  }
  if (left_ > 0) return compare(winner, next_challenger());
  decided_ = true;
  if (runner_up_ != loser) compare(winner, runner_up_);
}

void Race::reinstate() {
  if (first_ == kBaseline || in_use() != kBaseline) return;
  guard_.reinstate();
  if (in_use() != kBaseline) return;
  // What was the fastest but for the baseline goes on.
  tuned_ == runner_up_ ? compare(tuned_, kBaseline) : compare(runner_up_, tuned_);
}

void Race::add_to(Savings& savings) const {
  if (other_ != kBaseline || (first_ == kBaseline && in_use() == kBaseline)) return;
  savings.add(guard_);
}

}  // namespace stripline::decide
