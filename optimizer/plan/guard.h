// Whether a tuned plan keeps what the model promises: the guard of one call site; or which of two
// ways is faster where the model cannot tell. A site whose plan differs from the simple one is now
// and then carried out both ways, one right after the other, and the faster of them stays in use.
// So a wrong model costs speed for a moment, not for a run.
//
//   const Guard::Turn turn = guard.next();
//   ... carry the loop out as turn.way says; if turn.timed, take the time ...
//   guard.record(turn.way, seconds);
//
// A check is a pair of executions, each way once, in alternating order. The logarithm of the ratio
// of their times is averaged over checks, older ones counting less, so that the guard follows what
// changes. It changes the way in use when the other one is faster beyond the uncertainty of that
// mean. The next check is so far away that what the slower way takes longer stays below a part of
// the time of the executions in between; the first few follow one another sooner.
//
// A value; no clock, no allocation; the same times give the same turns. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>

namespace stripline::plan {

class Guard {
 public:
  /// Time that checks may take longer than the executions would have, as a part of all (DESIGN
  /// section 3, "Guard"); reached once the first checks are over.
  static constexpr double kBudget = 0.01;

  enum class Way : uint8_t { tuned, baseline };
  struct Turn {
    Way way = Way::tuned;
    bool timed = false;  ///< record() is to be called
  };

  /// Which executions are checks. `near`: as soon as what they cost allows. `common`: the same ones
  /// as those of guards on other ranks that have counted the same executions, with the same way
  /// first, though their times differ: pairs begin at even numbers, and are as far apart as a power
  /// of two, at multiples of it.
  enum class Checks : uint8_t { near, common };

  Guard() = default;
  /// `first` is in use until a check says otherwise.
  explicit Guard(Checks checks, Way first = Way::tuned)
      : placed_(checks), begun_with_(first), in_use_(first) {}

  /// How the next execution is to be carried out.
  Turn next();
  /// The time of the execution that next() wanted timed. Executions that did not come to their end
  /// are not recorded; the check then begins again.
  void record(Way way, double seconds);
  /// The tuned plan is another one from now on: what was found out about the one before is dropped,
  /// and the first way is in use again.
  void restart();

  Way in_use() const { return in_use_; }
  uint32_t checks() const { return checks_; }

  /// What came of the site so far, for reports. Zero before the first check.
  struct Balance {
    double actual_s = 0;    ///< all executions
    double baseline_s = 0;  ///< had all been carried out the simple way
    double error_s = 0;     ///< standard error of the difference
  };
  Balance balance() const;

 private:
  Way other() const { return in_use_ == Way::tuned ? Way::baseline : Way::tuned; }
  double pairs() const;
  double deviation() const;
  Turn next_in_common();
  void judge();
  void postpone(uint64_t executions);

  Checks placed_ = Checks::near;
  Way begun_with_ = Way::tuned;
  Way in_use_ = Way::tuned;
  bool checking_ = false;     // the first one of a pair is done, or under way
  bool first_done_ = false;   // and recorded
  uint32_t checks_ = 0;       // pairs, since the last restart
  uint64_t until_check_ = 0;  // executions, with Checks::near
  uint64_t place_ = 0;        // executions so far, with Checks::common
  uint64_t next_check_ = 0;   // and that of the next check, or the one under way
  double first_s_ = 0;
  Way first_way_ = Way::tuned;
  // Over pairs: ln(baseline / tuned).
  double weight_ = 0;
  double weight_squares_ = 0;
  double mean_ = 0;
  double squares_ = 0;
  // By way.
  std::array<double, 2> mean_log_s_{};
  std::array<uint64_t, 2> executions_{};
};

}  // namespace stripline::plan
