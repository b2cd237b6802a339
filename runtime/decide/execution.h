// One execution of a site: which plan it goes by, and what is learnt from it. All
// mechanisms plan, plan again by what they measured, obey guards and show decisions through it:
//
//   execution.begin(instruments, mechanism, site, terms);
//   ... carry out execution.plan(), each part of the computation between begin_computing() and
//   end_computing() ...
//   execution.finish(mechanism, execution.computed_s());
//
// A mechanism supplies, for sites of its plans:
//
//   Plan make(Arm arm, double compute_s)        the plan of an arm that was not decided on; of the
//                                               baseline, what is done without a model, with all
//                                               that it consists of
//   bool fits(const Plan& plan)                 false: there is no room for it now
//   void decide(Site& site, double compute_s)   decides again (Site::decide()), for a computation
//                                               that was measured
//   void note(Trace& trace, double seconds)     tells the trace of the execution
//   void look_for_ties(Site& site)              optional: for a site whose plan is the baseline
//                                               and not refined any more (Site::compare())
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/decide/run_guard.h"
#include "runtime/decide/site.h"
#include "runtime/decide/trace.h"
#include "runtime/fabric/fabric.h"

namespace stripline::decide {

/// What a rank decides with, beside its model.
struct Instruments {
  fabric::Fabric* fabric = nullptr;  ///< whose clock it is
  /// The guard of the program's iterations; null without a model, or where nothing may be compared.
  RunGuard* run_guard = nullptr;
  Trace* trace = nullptr;  ///< null: nothing is shown
  bool compares = false;   ///< plans may be compared (Options::guard)
};

/// What the program says of an execution.
struct Terms {
  RunGuard::Call call;    ///< for the guard of iterations
  bool guarded = true;    ///< plans may be compared
  bool measures = false;  ///< no one knows what the computation takes, which plans depend on
  /// The time of the execution is all that the plan changes, so that it tells which arm is faster.
  /// Else only iterations tell.
  bool judges_itself = true;
  /// The site's time alone decides, on a rank that decides for all of them or on each for itself:
  /// not all ranks report it to the guard of iterations, which does not hear of it.
  bool for_all = false;
};

/// To be begun again and again; not within itself. Not thread-safe.
template <typename PlanOfMechanism, size_t kArms = 2>
class Execution {
 public:
  using Plan = PlanOfMechanism;

  Execution() = default;
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution() { abandon(); }

  /// Begins the execution of a site that has been decided on, which stays until finish() or
  /// abandon().
  template <typename Mechanism>
  void begin(const Instruments& instruments, Mechanism&& mechanism, Site<Plan, kArms>& site,
             const Terms& terms) {
    start(instruments);
    site_ = &site;
    ++site.users;
    measures_ = terms.measures && site.refinement.goes_on();
    Arm arm = site.decided();
    if (terms.for_all) {
      if (terms.guarded && instruments.compares && site.race().has_rivals()) arm = take_turn();
    } else if (terms.guarded && instruments.run_guard != nullptr) {
      of_run_ = instruments.run_guard->report(terms.call);
      if (!measures_) look_for_ties(mechanism);
      if (site.race().has_rivals()) arm = ask(*instruments.run_guard, terms.judges_itself);
    }
    take(mechanism, arm);
    compute_s_ = site.refinement.planned_s();
    if (watched()) begun_s_ = instruments.fabric->now_s();
  }
  /// Begins the execution of a plan that nothing is to be learnt of; it must live as long.
  void begin(const Instruments& instruments, const Plan& plan) {
    start(instruments);
    plan_ = &plan;
    if (watched()) begun_s_ = instruments.fabric->now_s();
  }

  const Plan& plan() const { return *plan_; }
  Arm arm() const { return arm_; }
  /// Null without a site.
  const Site<Plan, kArms>* site() const { return site_; }
  /// True if finish() is to be given what the computation took.
  bool measures() const { return measures_; }
  /// A part of the computation begins, and is over; timed if it measures().
  void begin_computing() {
    if (measures_) computing_since_s_ = instruments_.fabric->now_s();
  }
  void end_computing() {
    if (measures_) computed_s_ += instruments_.fabric->now_s() - computing_since_s_;
  }
  /// What these parts took; 0 if it does not measure.
  double computed_s() const { return computed_s_; }
  /// The computation that the plan was made for; negative: an estimate.
  double compute_s() const { return compute_s_; }
  /// True if it is carried out by an arm that is not in use, to compare.
  bool is_check() const { return timed_ && turn_.check; }
  /// What counts begins now, rather than with begin().
  void restart_clock() {
    if (watched()) begun_s_ = instruments_.fabric->now_s();
  }

  /// It came to its end. `computed_s` counts if it measures(). `scale`: what its time is multiplied
  /// by before it is compared, where executions do not do equally much.
  template <typename Mechanism>
  void finish(Mechanism&& mechanism, double computed_s, double scale = 1) {
    if (watched()) {
      const double seconds = instruments_.fabric->now_s() - begun_s_;
      if (measures_ && arm_ == kBaseline && !within()) {
        site_->refinement.note_baseline(scale * seconds);
      }
      if (timed_) site_->race().record(turn_, scale * seconds);
      show(mechanism, seconds);
    }
    if (site_ != nullptr) refine(mechanism, computed_s);
    abandon();
  }
  /// It came to its end, and its time says nothing of arms: the race goes on as if it had not been
  /// begun.
  template <typename Mechanism>
  void give_back(Mechanism&& mechanism) {
    if (instruments_.trace != nullptr) show(mechanism, instruments_.fabric->now_s() - begun_s_);
    give_back();
  }
  /// Gives back an execution that did nothing, and is not shown.
  void give_back() {
    if (timed_) site_->race().give_back(turn_);
    abandon();
  }
  /// It did not, or no one is to learn from it.
  void abandon() {
    if (site_ != nullptr) --site_->users;
    site_ = nullptr;
    measures_ = timed_ = false;
  }

 private:
  void start(const Instruments& instruments) {
    abandon();
    instruments_ = instruments;
    of_run_ = {};
    arm_ = kBaseline;
    compute_s_ = -1;
    computed_s_ = 0;
  }
  bool watched() const { return timed_ || measures_ || instruments_.trace != nullptr; }
  template <typename Mechanism>
  void show(Mechanism& mechanism, double seconds) const {
    if (instruments_.trace == nullptr) return;
    mechanism.note(*instruments_.trace, seconds);
    if (site_ != nullptr && site_->race().is_demoted()) instruments_.trace->demote();
  }
  // True if the site is carried out already, around this execution: the time of a part is not to be
  // compared with the whole, and the plan of that must not go.
  bool within() const { return site_->users > 1; }

  // Only for a site that is carried out again.
  template <typename Mechanism>
  void look_for_ties(Mechanism& mechanism) {
    if constexpr (requires { mechanism.look_for_ties(*site_); }) {
      if (site_->looked_for_ties || within() || site_->refinement.executions() == 0) return;
      site_->looked_for_ties = true;
      if (site_->decided() == kBaseline) mechanism.look_for_ties(*site_);
    }
  }

  Arm take_turn() {
    if (within()) return site_->race().in_use();
    turn_ = site_->race().next();
    timed_ = true;
    return turn_.arm;
  }

  // What the guards say, that of iterations having been notified of the execution.
  Arm ask(RunGuard& run_guard, bool judges_itself) {
    Race& race = site_->race();
    if (of_run_.demoted) race.demote();
    if (race.in_use() != kBaseline) run_guard.differs(race.baseline_excess_s(), race.used_s());
    if (of_run_.method == RunGuard::Method::baseline) return kBaseline;
    return judges_itself && !of_run_.check ? take_turn() : race.in_use();
  }

  // Within other executions there may be no room for any plan but the one that was decided on.
  template <typename Mechanism>
  void take(Mechanism& mechanism, Arm arm) {
    const auto make = [&](Arm of, double compute_s) { return mechanism.make(of, compute_s); };
    const Plan& wanted = site_->plan(arm, make);
    const bool fits = arm == site_->decided() || mechanism.fits(wanted);
    arm_ = fits ? arm : site_->decided();
    timed_ = timed_ && fits;
    plan_ = fits ? &wanted : &site_->plan(arm_, make);
  }

  template <typename Mechanism>
  void refine(Mechanism& mechanism, double computed_s) {
    Refinement& refinement = site_->refinement;
    // What a check computes on lies elsewhere.
    if (!measures_ || arm_ != site_->decided()) return refinement.count();
    refinement.note(computed_s);
    if (within() || !refinement.is_due()) return;
    refinement.plan();
    mechanism.decide(*site_, refinement.planned_s());
  }

  Instruments instruments_;
  Site<Plan, kArms>* site_ = nullptr;
  const Plan* plan_ = nullptr;
  RunGuard::Turn of_run_;
  Arm arm_ = kBaseline;
  bool measures_ = false;
  bool timed_ = false;  // for the race
  Race::Turn turn_;     // if it is timed
  double compute_s_ = -1;
  double begun_s_ = 0;
  double computing_since_s_ = 0;
  double computed_s_ = 0;
};

}  // namespace stripline::decide
