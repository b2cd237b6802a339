#include "runtime/decide/run_guard.h"

#include <algorithm>
#include <utility>

namespace stripline::decide {
namespace {

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
      former_.add(phases_.front().guard);
      phases_.erase(phases_.begin());
    }
    phases_.push_back({rhythm.anchor(), regards, plan::Guard(plan::Guard::Of::turns, turn_.way)});
  }
  in_phase_ = true;
  regards_ = regards;
  anchor_ = phases_.back().anchor;
  most_calls_ = most_calls(anchor_);
  calls_ = 0;
  site_ = 0;
  several_ = false;
  // The first anchor ends what may be a part of an iteration.
  times_ = anchor_.times - 1;
  iterations_ = kIterations - 1;
  timed_ = false;
  search_.reset();
  pause_ = kPause;
}

void RunGuard::leave() {
  turn_ = {phases_.back().guard.in_use(), true};
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
  const bool whole = calls_ == anchor_.calls;
  calls_ = 0;
  times_ = 0;
  ++iterations_;
  if (timed_) {
    const double now_s = now_s_();
    if (whole && iterations_ > 1) fastest_s_ = std::min(fastest_s_, now_s - begun_s_);
    begun_s_ = now_s;
  }
  if (iterations_ == kIterations) begin_turn();
}

void RunGuard::begin_turn() {
  Phase& phase = phases_.back();
  if (timed_ && fastest_s_ < std::numeric_limits<double>::infinity()) {
    phase.guard.record(turn_.way, fastest_s_ * kIterations);
  }
  iterations_ = 0;
  const uint64_t turn = phase.turns++;
  plan::Guard::Turn next{phase.guard.in_use(), false};
  if (turn >= kFirstTurns) next = phase.guard.next();
  // Turns are counted all the same, as other ranks may have something to compare.
  if (!differs_) next = {phase.guard.in_use(), false};
  const bool sites_turn = turn < kSitesTurns || turn % kSitesTurns < 2;
  turn_ = {next.way, sites_turn && !next.timed && next.way == Way::tuned};
  timed_ = next.timed;
  fastest_s_ = std::numeric_limits<double>::infinity();
  if (timed_) begun_s_ = now_s_();
}

Savings RunGuard::savings() const {
  Savings all = former_;
  for (const Phase& phase : phases_) all.add(phase.guard);
  return all;
}

}  // namespace stripline::decide
