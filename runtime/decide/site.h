// What is known of a site: a place of the program where a mechanism decides, for one request. Its
// plans, by arm (race.h); how fast they are; and what its computation takes, which they are made
// for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/decide/race.h"
#include "runtime/decide/refinement.h"

namespace stripline::decide {

/// A plan does not change once it is made; a decision that is made again has others. Does not move:
/// its address is its number. Not thread-safe.
template <typename PlanOfMechanism, size_t kArms = 2>
class Site {
 public:
  using Plan = PlanOfMechanism;

  Site() = default;
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  /// The planner says that `plan` is to be carried out, which is that of `arm`. Unless that is the
  /// baseline, it is compared with the other arms, of `arms` that there are. `of` and `same`: as
  /// Race::start().
  void decide(Arm arm, const Plan& plan, Arm arms = kArms, Race::Of of = Race::Of::site,
              bool same = false) {
    same = same && arm == decided_;
    begin(arm, plan);
    race_.start(arm == kBaseline ? Arm{1} : arms, arm, of, same);
  }
  /// The planner cannot tell whether `plan`, that of an arm, is faster than the baseline: that is
  /// in use until it is seen to be slower. `of`: as plan::Guard's.
  void compare(Arm arm, const Plan& plan, Race::Of of) {
    begin(arm, plan);
    decided_ = kBaseline;
    race_.start(static_cast<Arm>(arm + 1), kBaseline, of);
  }

  /// The arm of what the planner has decided.
  Arm decided() const { return decided_; }
  /// The plan of an arm; `make(arm, planned_s)` makes those that no one has asked for before.
  template <typename Make>
  const Plan& plan(Arm arm, const Make& make) {
    auto& plan = plans_[arm];
    if (!plan) plan.emplace(make(arm, refinement.planned_s()));
    return *plan;
  }
  /// The plan of an arm that was made.
  const Plan& plan(Arm arm) const { return *plans_[arm]; }

  /// By how many times the model is seen to err about this site: what an execution as the baseline
  /// took, over what `plan` says of it, or the reverse; 1 as long as none was timed.
  template <typename Predicted>
  double shown_error(const Predicted& plan) const {
    const double seen_s = refinement.baseline_s();
    if (!(seen_s > 0) || !(plan.baseline_s > 0)) return 1;
    return std::max(seen_s / plan.baseline_s, plan.baseline_s / seen_s);
  }
  /// True if a plan gains more than it may take longer than predicted: by `doubt_s`, or by as much
  /// as the model errs about the baseline. The plan of a model that is not of this network
  /// (plan::Guard::kForeign) is to be faster by as much than the baseline was seen to be.
  template <typename Predicted>
  bool outweighs(const Predicted& plan, double doubt_s = 0) const {
    const double error = shown_error(plan);
    const double error_s = (error - 1) * plan.predicted_s;
    const double too_long_s = error > stripline::plan::Guard::kForeign
                                  ? std::max(plan.baseline_s - refinement.baseline_s(), 0.0)
                                  : 0;
    return plan.gain_low * plan.baseline_s - too_long_s >= std::max(doubt_s, error_s);
  }

  /// What a plan of arm 1 that was decided on, or is to be compared, promises, to the guard.
  /// `doubt_s`: what it may take longer than its interval says. A model that errs about the
  /// baseline may err as much about what the plan saves.
  template <typename Predicted>
  void expect(const Predicted& plan, double doubt_s = 0) {
    using stripline::plan::Guard;
    std::array<Guard::Forecast, 2> forecasts{
        Guard::baseline_forecast(plan.predicted_s, plan.baseline_s, plan.gain_low),
        Guard::tuned_forecast(plan.predicted_s, plan.baseline_s, plan.gain_low)};
    const double error = shown_error(plan);
    if (forecasts[1].known()) {
      forecasts[1].high_s += std::max(doubt_s, (error * error - 1) * plan.predicted_s);
    }
    race_.expect(forecasts, refinement.baseline_s());
  }
  /// The plan of an arm; null: it has not been made.
  const Plan* made(Arm arm) const { return plans_[arm] ? &*plans_[arm] : nullptr; }

  Race& race() { return race_; }
  const Race& race() const { return race_; }

  /// The number of the site, for the guard of iterations (run_guard.h).
  uint64_t number() const { return reinterpret_cast<uintptr_t>(this); }
  /// Executions that are in progress, one within the other: the site must not go, nor its plans.
  uint32_t users = 0;
  Refinement refinement;
  /// The planner has been asked for ties (Execution).
  bool looked_for_ties = false;

 private:
  void begin(Arm arm, const Plan& plan) {
    for (auto& old : plans_) old.reset();
    plans_[arm].emplace(plan);
    decided_ = arm;
  }

  std::array<std::optional<const Plan>, kArms> plans_;
  Arm decided_ = kBaseline;
  Race race_;
};

}  // namespace stripline::decide
