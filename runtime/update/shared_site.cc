#include "runtime/update/shared_site.h"

#include <utility>

#include "base/quantity.h"
#include "base/random.h"
#include "runtime/decide/choice.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/explain_command.h"

namespace stripline::update {

SharedSite::SharedSite(Context& context, CallSite call, const model::SharedUpdateModel* known)
    : state_(context.state()), call_(call), known_(known) {}

SharedSite::~SharedSite() {
  learn();
  state_.mechanisms.of<rma::EndedSites>(state_).add(site_.race());
}

void SharedSite::decide(const plan::SharedRequest& request, double calls, bool within) {
  drop();
  request_ = request;
  calls_ = calls;
  const plan::SharedPlan plan = plan::plan_shared(request, known_);
  if (plan.reason == plan::Reason::tuned) {
    // The times of other cells on replicas are others.
    const bool same = plan.strategy != plan::SharedStrategy::hybrid && site_.made(1) != nullptr &&
                      site_.made(1)->strategy == plan.strategy;
    site_.decide(decide::Arm{1}, plan, 2, decide::Race::Of::site, same);
    site_.expect(plan);
  } else {
    site_.decide(decide::kBaseline, plan);
  }
  if (!within) return;
  epochs_.begin(state_.mechanisms.instruments(), *site_.made(site_.decided()), 1);
  epochs_.restart_clock();
  runs_ = true;
}

void SharedSite::drop() {
  learn();
  runs_ = false;
  request_.reset();
}

// What comes after an epoch without updates is decided again.
void SharedSite::end(uint64_t calls) {
  if (!runs_ || calls == 0) return;
  made_[ended_++] = calls;
  epochs_.ended();
}

uint64_t SharedSite::announce() {
  learn();
  uint64_t baselines = 0;
  runs_ = request_.has_value();
  if (!runs_) return baselines;
  epochs_.begin(state_.mechanisms.instruments(), site_);
  const plan::SharedPlan* const decided = site_.made(site_.decided());
  while (epochs_.is_open()) {
    epochs_.add(*this, [&](const plan::SharedPlan& plan) {
      if (&plan != decided) baselines |= uint64_t{1} << epochs_.count();
      return true;
    });
  }
  return baselines;
}

// From the epochs that are over.
void SharedSite::learn() {
  const uint32_t ended = std::exchange(ended_, 0);
  if (ended == 0) return;
  epochs_.finish(
      ended, [this](uint32_t epoch) { return 1 / share(epoch); },
      [this](decide::Trace& trace, uint32_t epoch) { note(trace, epoch); });
}

void SharedSite::note(decide::Trace& trace, uint32_t epoch) const {
  const plan::SpreadRequest& spread = request_->spread;
  const plan::SharedPlan& plan = epochs_.plan(epoch);
  trace.note(call_, stripline::hash_of(spread.cells, spread.cell_bytes, spread.workers),
             decide::choice_of<plan::SharedMechanism>(
                 *request_, plan, {.predicted_s = share(epoch) * plan.predicted_s}),
             epochs_.seconds(epoch), "shared updates of " + count_text(spread.cells, "cell"), [&] {
               return detail::explain_command<plan::SharedMechanism>(state_, *request_,
                                                                     plan.reason);
             });
}

}  // namespace stripline::update
