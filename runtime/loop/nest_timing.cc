// What executions of a nest take, and what follows from that: its guards, its trace, and its plan
// once the computation is known.
#include <algorithm>
#include <string>
#include <utility>

#include "runtime/loop/loop_state.h"
#include "runtime/loop/nest_engine.h"
#include "runtime/rma/explain_command.h"

namespace stripline::detail {

using access::Reference;

// As the guards say.
void NestEngine::obey_guards(const NestOptions& options) {
  const Reference& first = nest_.reference[0];
  const rma::RunGuard::Turn of_run =
      state_.run_guard->report({.what = site_->key.place,
                                .rank = first.owner,
                                .loose_offset = static_cast<uint64_t>(first.base)});
  simply_ = of_run.way == rma::RunGuard::Way::baseline;
  if (measuring_ || plan().reason != plan::Reason::tuned) return;
  const plan::Guard::Turn turn =
      ask_guards(*state_.run_guard, of_run, site_->guard, site_->users > 1);
  timed_ = turn.timed;
  if (turn.way == plan::Guard::Way::tuned) return;
  if (site_->simple == nullptr) {
    NestOptions simply = options;
    simply.force = plan::NestCandidate{plan::Schedule::vectorised, {0, nest_.counts[0]}, 1};
    const double compute_s = options.compute_s < 0 ? site_->least_compute_s : options.compute_s;
    site_->simple = std::make_unique<NestLayout>(lay_out(state_, site_->key, simply, compute_s));
    site_->simple->plan.reason = plan::Reason::guarded;
    loops_.analysis.count_plan();
  }
  // Inside of other loops there may be no room for it.
  if (site_->simple->buffer_bytes > loops_.pool.room()) {
    timed_ = false;
    return;
  }
  layout_ = site_->simple.get();
}

// At the end of the nest.
void NestEngine::settle() {
  if (!timed_ && !traces_) return;
  const double seconds = context_.now_s() - begun_s_;
  if (traces_) note(seconds);
  if (!std::exchange(timed_, false)) return;
  const Analysis::Span deciding(loops_.analysis);
  using Way = plan::Guard::Way;
  site_->guard.record(plan().reason == plan::Reason::guarded ? Way::baseline : Way::tuned, seconds);
}

void NestEngine::note(double seconds) {
  uint64_t shape = nest_.references();
  std::string loops;
  for (uint32_t loop = 0; loop < nest_.depth; ++loop) {
    shape = shape * 0x9e3779b97f4a7c15 + nest_.counts[loop];
    loops += (loop > 0 ? " x " : "") + std::to_string(nest_.counts[loop]);
  }
  const plan::NestPlan& done = plan();
  state_.trace->note(call_, shape,
                     {done.schedule, done.reason, done.obstacle ? done.obstacle->text() : "",
                      done.steps, done.window, done.predicted_s},
                     seconds, "nest of " + loops, [this] { return explain_command(); });
}

// Nothing where the planner was not asked.
std::string NestEngine::explain_command() const {
  if (site_ == nullptr || !site_->key.use_model) return {};
  return detail::explain_command(state_,
                                 request_of(state_, site_->key, options_, layout_->compute_s));
}

void NestEngine::start_clock() {
  if (measuring_) out_since_s_ = context_.now_s();
}

void NestEngine::stop_clock() {
  if (measuring_) computed_s_ += context_.now_s() - out_since_s_;
}

// Replaces the estimate of the computation by what was measured, and plans again.
void NestEngine::refine() {
  const Analysis::Span deciding(loops_.analysis);
  const uint32_t executions = ++site_->executions;
  site_->least_compute_s =
      executions == 1 ? computed_s_ : std::min(site_->least_compute_s, computed_s_);
  if (executions < kRefineAfter || site_->users > 1) return;
  if (!replans(site_->layout.compute_s, site_->least_compute_s)) return;
  site_->layout = lay_out(state_, site_->key, options_, site_->least_compute_s);
  loops_.analysis.count_plan();
  site_->simple.reset();
  site_->guard.restart();
}

}  // namespace stripline::detail
