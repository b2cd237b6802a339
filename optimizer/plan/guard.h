// Tells whether a tuned plan keeps what the model promises: the guard of one call site; or which of
// two ways is faster where the model cannot tell. A site whose plan differs from the simple one is
// now and then carried out both ways, one right after the other, and the faster of them stays in
// use. So a wrong model costs speed for a moment, not for a run.
//
//   const Guard::Turn turn = guard.next();
//   ... carry the loop out as turn.way says; if turn.timed, take the time ...
//   guard.record(turn.way, seconds);
//
// A check is a pair of times, one of each way, in alternating order. What the way before has left
// behind, in caches, in the windows of connections and in where the ranks stand to each other, is
// not to count: an execution in the same way goes before the one that is timed. All ranks that have
// carried a site out equally often check at the same executions, with the same way first, though
// their times differ: else each of them would see what its way takes while others go the other one.
// For that checks begin at multiples of their length, and are as far apart as a power of two. Where
// ranks carry a site out as often as each of them likes, they check at different times, and others
// that wait for them take part in every check: then the ranks share what checks may take.
//
// The logarithm of the ratio of the two times is averaged over checks, older ones counting less, so
// that the guard follows what changes. It changes the way in use when the other one is faster
// beyond the uncertainty of that mean. The next check is so far away that what the slower way takes
// longer stays below a part of the time of the executions in between; the first few follow one
// another.
//
// A value; no clock, no allocation; the same times give the same turns. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>

namespace stripline::plan {

class Guard {
 public:
  /// Time that checks may take longer than the executions would have, as a part of all; reached
  /// once the first checks are over.
  static constexpr double kBudget = 0.01;

  enum class Way : uint8_t { tuned, baseline };
  struct Turn {
    Way way = Way::tuned;
    bool timed = false;  ///< record() is to be called
    bool last = false;   ///< of a check: its time may change what the turns after it are
  };

  /// What is guarded. `site`: a tuned plan. `tie`: a plan that nothing is expected of; the simple
  /// way is left for it only when it is surely faster. `turns`: executions that take up what the
  /// way before left by themselves, each being a check's time.
  enum class Of : uint8_t { site, tie, turns };

  Guard() = default;
  /// `first` is in use until a check says otherwise: of a plan that is expected to be faster, but
  /// not surely, the simple way.
  Guard(Of of, Way first) : of_(of), begun_with_(first), in_use_(first) {}

  /// So many ranks check this site at different times, each of which holds up the others: checks
  /// are so many times as far apart, except that the first follow one another until one is sure.
  void share_budget(uint32_t ranks) { sharers_ = ranks > 0 ? ranks : 1; }

  /// How the next execution is to be carried out.
  Turn next();
  /// The time of the execution that next() wanted timed. Executions that did not come to their end
  /// are not recorded; the check then begins again.
  void record(Way way, double seconds);
  /// Others are compared from now on, as a guard that was made so does: what was found out about
  /// those before is dropped. Executions count on.
  void restart(Of of, Way first);
  /// Somebody who sees more than the times of this site compares the two ways: a tuned way that was
  /// in use first is so again. What was found out is kept, and checks go on.
  void reinstate() { in_use_ = begun_with_ == Way::tuned ? Way::tuned : in_use_; }

  Way in_use() const { return in_use_; }
  Way begun_with() const { return begun_with_; }
  /// How much longer the other way takes than the one in use, as the logarithm of the ratio; 0
  /// before the first check.
  double ahead() const { return in_use_ == Way::tuned ? mean_ : -mean_; }
  uint32_t checks() const { return checks_; }
  /// The way in use is faster, beyond the uncertainty of what was found.
  bool is_sure() const;

  /// What came of the site so far, for reports. Zero before the first check.
  struct Balance {
    double actual_s = 0;    ///< all executions
    double baseline_s = 0;  ///< had all been carried out the simple way
    double error_s = 0;     ///< standard error of the difference
  };
  Balance balance() const;

 private:
  Way other() const { return in_use_ == Way::tuned ? Way::baseline : Way::tuned; }
  /// Executions of each way in a check, the last of which is timed.
  uint64_t of_way() const { return of_ == Of::turns ? 1 : 2; }
  double pairs() const;
  double deviation() const;
  void judge();
  void postpone(uint64_t executions);

  Of of_ = Of::site;
  uint32_t sharers_ = 1;
  Way begun_with_ = Way::tuned;
  Way in_use_ = Way::tuned;
  bool checking_ = false;    // a check is under way
  bool first_done_ = false;  // one of its times is recorded
  uint32_t checks_ = 0;      // since the last restart
  uint64_t place_ = 0;       // executions so far
  uint64_t next_check_ = 0;  // the one that the next check begins with, or the one under way
  double first_s_ = 0;
  Way first_way_ = Way::tuned;
  // Over checks: ln(baseline / tuned).
  double weight_ = 0;
  double weight_squares_ = 0;
  double mean_ = 0;
  double squares_ = 0;
  // By way.
  std::array<double, 2> mean_log_s_{};
  std::array<uint64_t, 2> executions_{};
};

}  // namespace stripline::plan
