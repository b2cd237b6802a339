// A place of the program that is visited again and again, and does in each visit about what it did
// in the last one: the phase that a barrier begins, a region. What the program does by itself is
// the baseline, and visits are compared with it.
//
//   * Without a model they go by what the program has asked for (plan::without_model()). The third
//     visit and the fourth are carried out as the baseline, on all ranks that visit the place
//     together, because the times of a rank that compares alone are those of the others' method. A
//     clear loss ends it there; what follows is compared within the budget of guards. Where there
//     are other methods that no one but the network can tell about, they follow in two visits each,
//     whatever the times before were: ranks whose times differ try the same method together.
//   * With one the first visits go by that, too, and what they do is the request; then a method is
//     decided on, and compared as all plans are (race.h).
//
// A visit that does nothing that methods are about counts as none.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "optimizer/plan/decision.h"
#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/score_map.h"
#include "runtime/decide/execution.h"

namespace stripline::decide {

/// For a mechanism whose candidates are methods; its plans have one as `method`. `kUsual` is what
/// visits go by of which nothing is known, `kOthers` what is tried beside that without a model.
/// Does not move. Not thread-safe.
template <plan::Tried M, auto kUsual, auto... kOthers>
class Visits {
 public:
  static constexpr Arm kArms = 2 + sizeof...(kOthers);
  using Request = typename M::Request;
  using Plan = typename M::Plan;
  using Method = typename M::Candidate;
  using Costs = typename M::Costs;
  using SiteOfPlans = Site<Plan, kArms>;

  /// After this number of visits in succession that did far more or less than others, what is done
  /// here has changed: with a model it is measured and decided on again.
  static constexpr uint32_t kChanged = 4;
  /// Times without a model that visits are compared with the baseline at once: the first ones, and
  /// some after a change.
  static constexpr uint32_t kEarlyChecks = 3;

  /// This many ranks compare methods at different times.
  void share_budget(uint32_t ranks) { site_.race().share_budget(ranks); }

  /// A visit begins: by which method. `costs` may be null, and outlives the visit; `forced` is what
  /// a score map says, empty: nothing.
  Method begin(const Instruments& instruments, const Costs* costs, std::string_view forced) {
    costs_ = costs;
    compares_ = instruments.compares;
    const bool knows = M::knows(costs);
    measures_ = instruments.trace != nullptr || (!request_ && knows && forced.empty());
    given_.reset();
    if (!forced.empty()) {
      // What a visit does not do, a method says nothing about: all are allowed.
      const auto method = plan::method_named<Method>(forced, M::kWords.methods);
      const Request request = request_.value_or(Request());
      given_.emplace(plan::plan_of<M>(request, costs, method.value_or(M::baseline(request)),
                                      plan::Reason::forced));
      has_begun_ = request_.has_value();
      if (has_begun_) execution_.begin(instruments, *given_);
      return given_->method;
    }
    has_begun_ = request_ || !knows;
    if (!has_begun_) return kUsual;
    if (!rival_) start(usual_plan(), false);
    execution_.begin(instruments, *this, site_,
                     {.call = {.what = site_.number()}, .for_all = true});
    return execution_.plan().method;
  }
  /// True if the times of what the visit does are to be measured.
  bool measures() const { return measures_; }
  /// While it is carried out as the baseline, or as one of kOthers, to compare: after this time it
  /// is known to be slower beyond doubt, and may go on by rival(). Infinity: it is to be carried
  /// out as it has begun.
  double patience_s() const {
    const bool compares = has_begun_ && execution_.is_check() && execution_.arm() != Arm{1};
    const double used_s = compares ? site_.race().used_s() : 0;
    return used_s > 0 ? plan::Guard::kHopeless * used_s : std::numeric_limits<double>::infinity();
  }
  /// What a visit that is carried out to compare is compared with.
  Method rival() const {
    const Arm used = site_.race().in_use();
    if (used != kBaseline) return method_of(used);
    return execution_.arm() > 1 ? M::baseline(request_.value_or(Request())) : *rival_;
  }

  /// The visit is over, in which this much was done of what methods are about, calls or bytes:
  /// times are compared in proportion to it. One that did less than half as much as others, or more
  /// than twice, is not compared, and the next one takes its turn, unless kChanged in succession
  /// are so. `show(trace, seconds)` tells a trace of it, if it is known what visits do.
  template <typename Show>
  void end(uint64_t amount, const Show& show) {
    amount_ = amount;
    if (usual_ == 0) usual_ = amount;
    is_alike_ = std::max(amount, usual_) <= 2 * std::min(amount, usual_) && amount > 0;
    if (std::exchange(has_begun_, false)) {
      Shown<Show> shown{*this, show};
      if (is_alike_) {
        execution_.finish(shown, 0, 1 / share());
      } else if (amount > 0) {
        execution_.give_back(shown);
      } else {
        execution_.give_back();
      }
    }
    if (amount == 0) return;
    unlike_ = is_alike_ ? 0 : unlike_ + 1;
    if (unlike_ == kChanged) change();
  }
  /// What the last visit did, as a part of what plans are made for.
  double share() const { return static_cast<double>(amount_) / static_cast<double>(usual_); }
  /// True if what the visit did, which has just ended, is to be decided on: by decide().
  bool is_due() {
    // The first one also pays for fresh memory, and has nothing of an earlier one to go by.
    return is_alike_ && !request_ && measures_ && ++measured_ >= kMeasuredVisits;
  }
  /// Decides on this request, which the last visit was, from now on.
  void decide(const Request& request) {
    request_ = request;
    if (M::knows(costs_)) usual_ = amount_;  // else what was timed before is compared with others
    decide(site_, -1);
  }

  /// What was decided on; none so far.
  const std::optional<Request>& request() const { return request_; }
  /// The plan that the visit is carried out by. While it is.
  const Plan& plan() const { return execution_.plan(); }
  const Race& race() const { return site_.race(); }

  // As a mechanism (execution.h).
  Plan make(Arm arm, double /*compute_s*/) const {
    const Request request = request_.value_or(Request());
    if (arm != kBaseline) {
      return plan::plan_of<M>(request, costs_, method_of(arm), plan::Reason::tied);
    }
    const bool compares = compares_ || site_.decided() != kBaseline;
    return plan::plan_of<M>(request, costs_, M::baseline(request),
                            compares ? plan::Reason::guarded : reason_);
  }
  bool fits(const Plan&) const { return true; }
  // What is surely faster than the baseline is taken, and compared with it. Else the baseline is,
  // and compared with what may be the fastest, unless that is predicted to take far longer.
  void decide(SiteOfPlans& site, double /*compute_s*/) {
    Fastest fastest;
    const Plan plan = plan::choose<M>(*request_, costs_, fastest);
    reason_ = plan.reason;
    if (plan.reason == plan::Reason::no_model) return start(plan, true);
    if (plan.reason == plan::Reason::tuned) {
      rival_ = plan.method;
      site.decide(Arm{1}, plan, 2, Race::Of::site);
      return site.expect(plan);
    }
    rival_ = fastest.method.value_or(plan::without_model<M>(*request_));
    const Plan other = make(1, -1);
    if (other.predicted_s > plan::Guard::kBeyondDoubt * plan.predicted_s) {
      return site.decide(kBaseline, plan);
    }
    site.compare(Arm{1}, other, Race::Of::tie);
    site.race().expect_times(std::array{plan.predicted_s, other.predicted_s});
  }

 private:
  static constexpr uint32_t kMeasuredVisits = 2;

  // A method that has lost to the baseline stays given up.
  void change() {
    unlike_ = 0;
    usual_ = amount_;
    if (site_.decided() != kBaseline && site_.race().in_use() == kBaseline) return;
    request_.reset();
    measured_ = kMeasuredVisits - 1;
    if (rival_ && !M::knows(costs_)) start(usual_plan(), false);
  }

  // The candidate that is predicted to be the fastest, if it is not the baseline.
  struct Fastest : plan::NoRecord {
    std::optional<Method> method;
    void take(const Method& candidate, double /*predicted_s*/) { method = candidate; }
  };

  template <typename Show>
  struct Shown {
    Visits& visits;
    const Show& show;
    void decide(SiteOfPlans& site, double compute_s) { visits.decide(site, compute_s); }
    void note(Trace& trace, double seconds) const {
      if (visits.request_) show(trace, seconds);
    }
  };

  Method method_of([[maybe_unused]] Arm arm) const {
    if constexpr (sizeof...(kOthers) > 0) {
      constexpr std::array<Method, sizeof...(kOthers)> kMore = {kOthers...};
      if (arm > 1) return kMore.at(arm - 2U);
    }
    return *rival_;
  }

  static Plan usual_plan() {
    return M::unfold(Request(), kUsual, {.reason = plan::Reason::no_model});
  }
  // Without a model. `same`: visits do what they did before, and the plan has but become known to
  // be about a part of it.
  void start(const Plan& plan, bool same) {
    rival_ = plan.method;
    site_.decide(Arm{1}, plan, kArms, Race::Of::site, same);
    if (!same) ++starts_;
    if (starts_ <= kEarlyChecks) site_.race().check_at_once();
  }

  const Costs* costs_ = nullptr;
  uint64_t amount_ = 0;    // that the last visit did
  uint64_t usual_ = 0;     // that a visit does which is compared
  bool is_alike_ = false;  // the last one is
  uint32_t unlike_ = 0;    // those in succession that are not
  uint32_t measured_ = 0;
  uint32_t starts_ = 0;
  bool measures_ = false;
  bool compares_ = false;
  std::optional<Request> request_;
  plan::Reason reason_ = plan::Reason::no_model;  // of what was decided on
  std::optional<Method> rival_;                   // arm 1
  SiteOfPlans site_;
  std::optional<const Plan> given_;
  Execution<Plan, kArms> execution_;
  bool has_begun_ = false;
};

}  // namespace stripline::decide
