#include "runtime/update/shared_site.h"

#include <utility>

#include "base/quantity.h"
#include "base/random.h"
#include "runtime/decide/choice.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/explain_command.h"

namespace stripline::update {

SharedSite::SharedSite(Context& context, CallSite call) : state_(context.state()), call_(call) {}

SharedSite::~SharedSite() { state_.mechanisms.of<rma::EndedSites>(state_).add(site_.race()); }

void SharedSite::decide(const plan::SharedRequest& request, const plan::SharedCosts& costs) {
  drop();
  request_ = request;
  costs_ = costs;
  decide(site_, -1);
}

void SharedSite::drop() {
  execution_.abandon();
  has_begun_ = false;
  request_.reset();
}

bool SharedSite::compares() const {
  return request_ && site_.race().has_rivals() && state_.mechanisms.run_guard() != nullptr;
}

std::optional<plan::SharedStrategy> SharedSite::begin() {
  if (!request_) return std::nullopt;
  execution_.begin(state_.mechanisms.instruments(), *this, site_,
                   {.call = {.what = site_.number()}, .guarded = compares(), .for_all = true});
  has_begun_ = true;
  return execution_.plan().strategy;
}

void SharedSite::end() {
  if (std::exchange(has_begun_, false)) execution_.finish(*this, 0);
}

plan::SharedPlan SharedSite::make(decide::Arm, double /*compute_s*/) const {
  return plan::guarded_shared(request_->spread, costs_, plan::SharedStrategy::hybrid);
}

void SharedSite::decide(decide::Site<plan::SharedPlan>& site, double /*compute_s*/) {
  const plan::SharedPlan plan = plan::plan_shared(request_->spread, costs_);
  if (plan.reason != plan::Reason::tuned || plan.strategy == plan::SharedStrategy::hybrid) {
    return site.decide(decide::kBaseline, plan);
  }
  const bool same = site.made(1) != nullptr && site.made(1)->strategy == plan.strategy;
  site.decide(decide::Arm{1}, plan, 2, decide::Race::Of::site, same);
  site.expect(plan);
}

void SharedSite::note(decide::Trace& trace, double seconds) const {
  const plan::SpreadRequest& spread = request_->spread;
  trace.note(call_, stripline::hash_of(spread.cells, spread.cell_bytes, spread.workers),
             decide::choice_of<plan::SharedMechanism>(*request_, execution_.plan()), seconds,
             "shared updates of " + count_text(spread.cells, "cell"), [&] {
               return detail::explain_command<plan::SharedMechanism>(state_, *request_,
                                                                     execution_.plan().reason);
             });
}

}  // namespace stripline::update
