// A place of the program that is visited again and again, and does in each visit about what it did
// in the last one: the phase that a barrier begins, a region. The first visits are carried out as
// without a model, and what they do is the request; then a method is decided on, and compared with
// the baseline while the program runs, or, where that is the plan, with what the program would do
// by itself.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "optimizer/plan/decision.h"
#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/score_map.h"
#include "runtime/decide/execution.h"

namespace stripline::decide {

/// For a mechanism whose candidates are methods; its plans have one as `method`. `kUsual` is the
/// one without a model, as far as a visit does what it is about, `kPlain` what the program does by
/// itself. Does not move. Not thread-safe.
template <plan::Tried M, auto kUsual, auto kPlain>
class Visits {
 public:
  using Request = typename M::Request;
  using Plan = typename M::Plan;
  using Method = typename M::Candidate;
  using Costs = typename M::Costs;
  using SiteOfPlans = Site<Plan>;

  /// This many ranks compare methods at different times.
  void share_budget(uint32_t ranks) { site_.race().share_budget(ranks); }

  /// A visit begins: by which method. `costs` may be null, and outlives the visit; `forced` is what
  /// a score map says, empty: nothing.
  Method begin(const Instruments& instruments, const Costs* costs, std::string_view forced) {
    costs_ = costs;
    has_begun_ = request_.has_value();
    measures_ = instruments.trace != nullptr || (!request_ && costs != nullptr && forced.empty());
    if (!forced.empty()) {
      // What a visit does not do, a method says nothing about: all are allowed.
      const auto method = plan::method_named<Method>(forced, M::kWords.methods);
      given_.emplace(plan::plan_of<M>(request_.value_or(Request()), costs, method.value_or(kUsual),
                                      plan::Reason::forced));
      if (has_begun_) execution_.begin(instruments, *given_);
      return given_->method;
    }
    given_.reset();
    if (!has_begun_) return kUsual;
    execution_.begin(instruments, *this, site_,
                     {.call = {.what = site_.number()}, .for_all = true});
    return execution_.plan().method;
  }
  /// True if the times of what the visit does are to be measured.
  bool measures() const { return measures_; }

  /// The visit is over. `scale`: what its time is multiplied by before it is compared, where visits
  /// do not do equally much; 0: it did nothing that methods are about, and is not compared.
  /// `show(trace, seconds)` tells a trace of it, if there is a plan.
  template <typename Show>
  void end(double scale, const Show& show) {
    if (!std::exchange(has_begun_, false)) return;
    if (scale == 0) return execution_.abandon();
    execution_.finish(Shown<Show>{*this, show}, 0, scale);
  }
  /// True if what the visit did, which has just ended, is to be decided on: by decide().
  bool is_due() {
    // The first one also pays for fresh memory, and has nothing of an earlier one to go by.
    return !request_ && measures_ && ++measured_ >= kMeasuredVisits;
  }
  /// Decides on this request from now on.
  void decide(const Request& request) {
    request_ = request;
    decide(site_, -1);
  }
  /// What it does has changed: it is measured again, in the next visit.
  void forget_request() {
    request_.reset();
    measured_ = kMeasuredVisits - 1;
  }

  /// What was decided on; none so far.
  const std::optional<Request>& request() const { return request_; }
  /// The plan that the visit is carried out by. While it is.
  const Plan& plan() const { return execution_.plan(); }
  /// True if the method was forced.
  bool is_forced() const { return given_.has_value(); }
  const Race& race() const { return site_.race(); }

  // As a mechanism (execution.h).
  Plan make(Arm arm, double /*compute_s*/) const {
    if (arm == kBaseline) return plan::baseline_of<M>(*request_, costs_);
    return plan::plan_of<M>(*request_, costs_, *rival_, plan::Reason::tied);
  }
  bool fits(const Plan&) const { return true; }
  // What is surely faster than the baseline is taken, and compared with it. Else what the program
  // does by itself is compared, unless that is predicted to take far longer.
  void decide(SiteOfPlans& site, double /*compute_s*/) {
    plan::NoRecord record;
    const Plan plan = plan::choose<M>(*request_, costs_, record);
    rival_ = plan.method;
    if (plan.reason == plan::Reason::tuned) {
      const bool same = site.made(1) != nullptr && site.made(1)->method == plan.method;
      site.decide(Arm{1}, plan, 2, Race::Of::site, same);
      site.expect(plan);
      return;
    }
    if (plan.reason == plan::Reason::no_model || plan.method == kPlain) {
      return site.decide(kBaseline, plan);
    }
    rival_ = kPlain;
    const Plan plain = make(1, -1);
    if (plain.predicted_s > plan::Guard::kBeyondDoubt * plan.predicted_s) {
      return site.decide(kBaseline, plan);
    }
    site.compare(Arm{1}, plain, Race::Of::tie);
    site.race().expect(
        std::array{plan::Guard::Forecast{plan.predicted_s, plan.predicted_s, plan.predicted_s},
                   plan::Guard::Forecast{plain.predicted_s, plain.predicted_s, plain.predicted_s}});
  }

 private:
  static constexpr uint32_t kMeasuredVisits = 2;

  template <typename Show>
  struct Shown {
    Visits& visits;
    const Show& show;
    void decide(SiteOfPlans& site, double compute_s) { visits.decide(site, compute_s); }
    void note(Trace& trace, double seconds) const { show(trace, seconds); }
  };

  const Costs* costs_ = nullptr;
  uint32_t measured_ = 0;
  bool measures_ = false;
  std::optional<Request> request_;
  std::optional<Method> rival_;  // arm 1
  SiteOfPlans site_;
  std::optional<const Plan> given_;
  Execution<Plan> execution_;
  bool has_begun_ = false;
};

}  // namespace stripline::decide
