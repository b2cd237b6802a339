// Executions of a site that one rank decides on for all of them, several at a time, since to inform
// the others takes as long as a small execution. What execution.h is for a decision of each rank by
// itself; the ranks change the method in step, at executions that all of them know:
//
//   executions.begin(instruments, site);
//   while (executions.add(mechanism, joins) && ...);
//   // Inform all ranks of plan(0) to plan(count() - 1).
//   executions.restart_clock();
//   // Carry them out, each of them followed by ended().
//   executions.finish(count, scale, note);
//
// Which executions are checks follows from their number, and is decided on before the times of
// those in front of them are known: up to the one whose time may change what comes next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/decide/execution.h"

namespace stripline::decide {

/// The most executions that are decided on at a time.
inline constexpr uint32_t kMostAhead = 32;

/// To be begun again and again. Not thread-safe.
template <typename PlanOfMechanism, size_t kArms>
class GroupExecution {
 public:
  using Plan = PlanOfMechanism;

  /// Begins to decide on executions of a site that has been decided on; it stays, and is not
  /// decided on again, until finish().
  void begin(const Instruments& instruments, Site<Plan, kArms>& site) {
    instruments_ = instruments;
    site_ = &site;
    raced_ = instruments.run_guard != nullptr && site.race().has_rivals();
    ahead_ = site.race();
    count_ = 0;
  }
  /// This many executions of a plan that nothing is to be learnt of; it must live as long.
  void begin(const Instruments& instruments, const Plan& plan, uint32_t count) {
    instruments_ = instruments;
    site_ = nullptr;
    raced_ = false;
    turns_.fill({.plan = &plan});
    count_ = count;
  }

  /// Decides on one more. False: it cannot be announced with those before it, says `joins(plan)`,
  /// and is decided on again. `mechanism.make(arm, compute_s)`: as Execution's. While is_open().
  template <typename Mechanism, typename Joins>
  bool add(Mechanism&& mechanism, const Joins& joins) {
    const Race::Turn turn = raced_ ? ahead_.next() : Race::Turn{site_->decided()};
    const Plan& plan = site_->plan(
        turn.arm, [&](Arm arm, double compute_s) { return mechanism.make(arm, compute_s); });
    if (!joins(plan)) return false;
    turns_[count_++] = {.plan = &plan, .of_race = turn};
    return true;
  }
  /// False: what comes next depends on what these take.
  bool is_open() const {
    return count_ < kMostAhead && (count_ == 0 || !turns_[count_ - 1].of_race.last);
  }
  uint32_t count() const { return count_; }
  const Plan& plan(uint32_t number) const { return *turns_[number].plan; }
  /// True if this one compares.
  bool is_check(uint32_t number) const { return turns_[number].of_race.check; }

  /// The first of them begins.
  void restart_clock() {
    ended_ = 0;
    begun_s_ = instruments_.fabric->now_s();
  }
  /// The next one of them is over, and the one after it begins.
  void ended() {
    const double now_s = instruments_.fabric->now_s();
    turns_[ended_++].seconds = now_s - std::exchange(begun_s_, now_s);
  }
  /// The same of one that took this long, where what is between executions does not count.
  void ended(double seconds) { turns_[ended_++].seconds = seconds; }
  double seconds(uint32_t number) const { return turns_[number].seconds; }
  /// When the one in progress has begun.
  double begun_s() const { return begun_s_; }

  /// The first `count` of them were carried out, and count. `scale(number)`: what their times are
  /// multiplied by before they are compared; `note(trace, number)` tells a trace of them.
  template <typename Scale, typename Note>
  void finish(uint32_t count, const Scale& scale, const Note& note) {
    // The race takes the turns that it has been asked about before any of these times was known.
    for (uint32_t i = 0; raced_ && i < count; ++i) site_->race().next();
    for (uint32_t i = 0; i < count; ++i) {
      if (raced_) site_->race().record(turns_[i].of_race, scale(i) * turns_[i].seconds);
      if (instruments_.trace == nullptr) continue;
      note(*instruments_.trace, i);
      if (site_ != nullptr && site_->race().is_demoted()) instruments_.trace->demote();
    }
  }

 private:
  struct Turn {
    const Plan* plan = nullptr;
    Race::Turn of_race{};
    double seconds = 0;
  };

  Instruments instruments_;
  Site<Plan, kArms>* site_ = nullptr;
  bool raced_ = false;
  Race ahead_;  // as it will be if nothing changes
  std::array<Turn, kMostAhead> turns_{};
  uint32_t count_ = 0;
  uint32_t ended_ = 0;
  double begun_s_ = 0;
};

}  // namespace stripline::decide
