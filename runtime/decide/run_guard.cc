#include "runtime/decide/run_guard.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stripline::decide {
namespace {

// What the baseline is expected to take longer at least, as a part of the iteration; more is
// rounded up to this power of that. Ranks that expect different excesses check at different
// iterations, and each of them then measures that the others wait for it: the coarser, the fewer.
constexpr double kLeastExcess = 1.0 / 16;
constexpr double kExcessStep = 4;

// An iteration that is longer, in calls, has another one behind it.
uint64_t most_calls(const CallRhythm::Anchor& anchor) { return 4 * uint64_t{anchor.calls} + 64; }

}  // namespace

void RunGuard::note(const Call& call) {
  if (!in_phase_) return look(call);
  if (regards_.id(call) != anchor_.id) {
    leave();
    return look(call);
  }
  if (++times_ == anchor_.times) end_iteration();
}

void RunGuard::look(const Call& call) {
  if (search_ == nullptr) search_ = std::make_unique<Search>();
  auto& [closely, by_place, anywhere] = *search_;
  closely.add(kClosely.id(call));
  by_place.add(kByPlace.id(call));
  anywhere.add(kAnywhere.id(call));
  if (by_place.found()) {
    // Where every other call goes elsewhere, two are one iteration, or iterations that take turns.
    if (closely.period() == 2 * by_place.period()) return enter(closely, kClosely);
    return enter(by_place, kByPlace);
  }
  if (by_place.calls() < kPatience) return;
  anywhere.found() ? enter(anywhere, kAnywhere) : pause();
}

// The call that is being carried out is the last one of an iteration.
void RunGuard::enter(const CallRhythm& rhythm, const Regards& regards) {
  const auto known = std::ranges::find_if(phases_, [&](const Phase& phase) {
    return phase.regards == regards && phase.anchor.calls == rhythm.period() &&
           rhythm.contains(phase.anchor.id);
  });
  if (known != phases_.end()) {
    std::rotate(known, known + 1, phases_.end());
  } else {
    if (phases_.size() == kPhases) {
      add(phases_.front().guard, former_);
      phases_.erase(phases_.begin());
    }
    phases_.push_back(
        {rhythm.anchor(), regards, plan::Guard(plan::Guard::Of::site, turn_.method), {}});
  }
  in_phase_ = true;
  regards_ = regards;
  anchor_ = phases_.back().anchor;
  most_calls_ = most_calls(anchor_);
  calls_ = 0;
  // The first anchor ends what may be a part of an iteration.
  times_ = anchor_.times - 1;
  timed_ = false;
  search_.reset();
  pause_ = kPause;
}

void RunGuard::leave() {
  const plan::Guard& guard = phases_.back().guard;
  turn_ = {guard.in_use(), false, guard.is_demoted()};
  differs_ = false;
  in_phase_ = false;
  anchor_ = {};
  most_calls_ = 0;
}

void RunGuard::pause() {
  search_.reset();
  calls_ = 0;
  most_calls_ = pause_;
  pause_ *= 2;
}

// The next one begins with this call.
void RunGuard::end_iteration() {
  Phase& phase = phases_.back();
  const bool whole = calls_ == anchor_.calls;
  calls_ = 0;
  times_ = 0;
  time_iteration(phase, whole);
  // Counted all the same where nothing differs, as other ranks may have something to compare.
  phase.turn = {phase.guard.in_use()};
  if (phase.iterations++ >= kFirstIterations) phase.turn = phase.guard.next();
  if (!timed_) phase.turn = {phase.guard.in_use()};
  turn_ = {phase.turn.method, phase.turn.check, phase.guard.is_demoted()};
}

// The one that is over, if both its ends are known, and begins to time the next one.
void RunGuard::time_iteration(Phase& phase, bool whole) {
  const bool goes_on = std::exchange(differs_, false);
  const double excess_s = std::exchange(excess_s_, 0);
  const double expected_s = std::exchange(expected_s_, 0);
  const bool was_timed = std::exchange(timed_, goes_on);
  if (!goes_on) return;
  const double now_s = now_s_();
  const double seconds = now_s - std::exchange(begun_s_, now_s);
  if (!was_timed || !whole) return;
  const bool tuned = phase.guard.in_use() == Method::tuned;
  const double ratio = std::max(tuned ? excess_s : -excess_s, 0.0) / std::max(seconds, expected_s);
  const double steps =
      std::ceil(std::log2(std::max(ratio / kLeastExcess, 1.0)) / std::log2(kExcessStep));
  phase.guard.assume_excess(kLeastExcess * std::pow(kExcessStep, steps));
  if (phase.iterations > kFirstIterations) phase.guard.record(phase.turn, seconds);
}

void RunGuard::add(const plan::Guard& guard, Savings& savings) {
  savings.add(guard);
  savings.taken_s += guard.taken_s();
  savings.excess_s += guard.excess_s();
}

Savings RunGuard::savings() const {
  Savings all = former_;
  for (const Phase& phase : phases_) add(phase.guard, all);
  return all;
}

}  // namespace stripline::decide
