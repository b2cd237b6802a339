// Tells whether a tuned plan keeps what the model promises: the guard of one call site, or of the
// iterations of a program; or which of two methods is faster where the model cannot tell. Every
// execution is timed. A site whose plan differs from the baseline is now and then carried out by
// the other method, and the faster of them stays in use. So a wrong model costs speed for a moment,
// not for a run.
//
//   const Guard::Turn turn = guard.next();
//   ... carry the site out as turn.method says, and take the time ...
//   guard.record(turn, seconds);
//
// A check is an execution by the method that is not in use, beside the latest ones by the method
// that is. What the previous method has left behind, in caches, in the windows of connections and
// in the ranks' relative progress, is not to count: another execution by the same method goes
// before the one that counts, unless it takes four times as long as those by the method in use, and
// the first one after the check is not judged either. If the one that counts takes four times as
// long as the one before it, something else ran meanwhile, and the one before it counts. When a
// check begins:
//
// * Only if what it may take longer than the method in use, with what checks have taken longer so
//   far, is at most kBudget of all that the site has taken so far. That is what is expected of the
//   planner's prediction (expect()), until the other method is measured, and as much more as
//   executions by the method in use scatter. What has not been measured nor predicted is taken to
//   last twice as long. A check that has taken longer than was expected delays later ones until
//   that is repaid: by the budget, or by what the method in use was seen to lose since the latest
//   check.
// * Never, if the other method is slower beyond any doubt: even the lower end of what is predicted
//   for it is kBeyondDoubt times what the method in use takes. A model that has predicted much more
//   for the method in use than that takes is no authority for this; of it only ratios count.
// * At once, whatever the budget, if the plan may be losing, and may have lost as much as the check
//   may take longer: its executions, one of which may have been disturbed, take longer than the
//   baseline did (remember()); or, where that is not known, longer than the upper end of what was
//   predicted for them, and than the baseline if the model errs as much about that. Once for a
//   plan; then what was measured counts.
// * Not by the tuned method, if its first executions take far less than the lower end of what was
//   predicted for them, and nothing is known of the baseline: the model is not of this network, and
//   its ratios are worth nothing. The site goes on as the baseline; the tuned method, whose time is
//   known by then, is checked as any other, and at once if the baseline takes longer than that did.
// * At once, too, where the user of the guard asks for it (check_at_once()), as no model says
//   anything of either method. All ranks then check at the same execution.
// * As soon as most of the latest executions have taken half as long again as at the latest check,
//   and longer than the other method took, or is taken to last where nothing was predicted. If it
//   stays so until the next check, what was found before is dropped.
//
// The very first execution says nothing. The tuned method is given up at its first clear loss. If
// that is confirmed by more than one of its executions it is not tried again; else it is tried once
// more, when the budget allows it, and what it takes then decides.
//
// All ranks that have carried a site out equally often are to check at the same executions, though
// their times differ: else each of them would time its own method while others use the other one.
// For that checks begin at multiples of a distance that is a power of two. Where ranks carry a site
// out as often as each of them likes, they check at different times, and others that wait for them
// take part in every check: then the ranks share what checks may take.
//
// The logarithm of the ratio of the two times is averaged over checks, older ones counting less, so
// that the guard follows what changes. It changes the method in use when the other one is faster
// beyond the uncertainty of that mean.
//
// What checks take longer is what their executions take, with the one after each, which pays for
// the change back, less what as many of the executions beside them took on average, those before
// and those after. What disturbs executions is in both, so that it cancels out in the long run; in
// a short one, a disturbance that happens to meet a check counts as the check's.
//
// A value; no clock, no allocation; the same times give the same turns. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace stripline::plan {

class Guard {
 public:
  /// What checks may take longer than the executions would have, as a part of all that the site has
  /// taken so far. Sites and iterations of the program are checked independently of each other: 1 %
  /// together.
  static constexpr double kBudget = 0.005;
  /// The interval of a prediction holds what is known of the network. What a model does not know of
  /// (a body that is slower on a copy, another job on the node) is taken to be within this factor.
  static constexpr double kBeyondDoubt = 1.5;
  /// A model that errs by more than this factor about a method that was timed is not of this
  /// network: ratios that it predicts are worth nothing.
  static constexpr double kForeign = 1.25;
  /// What takes this many times as long in a check is not carried out twice to be sure of it, and
  /// the second of two executions that takes as many times as long as the first was disturbed.
  static constexpr double kHopeless = 4;

  enum class Method : uint8_t { tuned, baseline };
  struct Turn {
    Method method = Method::tuned;
    bool check = false;  ///< the method that is not in use
    bool settles =
        false;          ///< absorbs what the other method has left; its time says little of its own
    bool last = false;  ///< of a check: its time may change what the turns after it are
  };

  /// What is guarded. `site`: a tuned plan. `tie`: a plan that nothing is expected of; the baseline
  /// is left for it only when it is surely faster. `turns`: executions that absorb what the
  /// previous method left by themselves, of which nothing is given up for good.
  enum class Of : uint8_t { site, tie, turns };

  /// The predicted seconds of an execution, and the ends of their interval; 0: not known.
  struct Forecast {
    double seconds = 0;
    double low_s = 0;
    double high_s = 0;
    bool known() const { return seconds > 0; }
  };
  /// The forecasts that follow from a plan's predicted_s, baseline_s and gain_low: the interval of
  /// its gain is that of either time, the other being as predicted.
  static Forecast tuned_forecast(double predicted_s, double baseline_s, double gain_low);
  static Forecast baseline_forecast(double predicted_s, double baseline_s, double gain_low);

  Guard() = default;
  /// `first` is in use until a check says otherwise: of a plan that is expected to be faster, but
  /// not surely, the baseline.
  Guard(Of of, Method first) : of_(of), begun_with_(first), in_use_(first) {}

  /// `ranks` ranks check this site at different times, each of which holds up the others: checks
  /// are that many times as far apart.
  void share_budget(uint32_t ranks) { sharers_ = ranks > 0 ? ranks : 1; }
  /// What is predicted. Of `turns`, which are more than what is predicted, the difference counts.
  void expect(const Forecast& tuned, const Forecast& baseline);
  /// What an execution by a method took before anything was decided, which says more than a
  /// prediction; 0: none is known. If the method in use takes longer, it is checked at once.
  void remember(Method method, double seconds);
  /// After restart(): the other method is not what is done without a model, so that the one in use
  /// is not left for it before a check, whatever its predictions are worth.
  void keep_until_checked() { distrusted_ = true; }
  /// By how much longer than the method in use the other one is taken to last while nothing is
  /// known of it, as a part of the former.
  void assume_excess(double ratio) { assumed_ = ratio; }
  /// The other method is checked as soon as the one in use has been timed, whatever that takes, but
  /// not before `after` more executions.
  void check_at_once(uint64_t after = 0) {
    urgent_ = true;
    not_before_ = place_ + after;
  }

  /// How the next execution is to be carried out.
  Turn next();
  /// What the execution of a turn has taken. Turns that did not come to their end are not recorded;
  /// a check is then made again.
  void record(const Turn& turn, double seconds);
  /// The execution of the turn that next() returned last has done nothing that the methods differ
  /// in: the next one has that turn, as if there had been none before.
  void give_back(const Turn& turn);
  /// Others are compared from now on, as a guard that was made so does: what was found out about
  /// those before is dropped. Executions count on, and what checks have taken. `same`: the method
  /// that was in use is carried out as it was, so that its times hold.
  void restart(Of of, Method first, bool same = false);
  /// Somebody who sees more than the times of this site has found the baseline to be faster.
  void demote();

  Method in_use() const { return in_use_; }
  Method begun_with() const { return begun_with_; }
  /// True if nothing is compared any more: the tuned method has lost.
  bool is_demoted() const { return demoted_; }
  /// True if there was no check, and will be none: the other method is slower beyond any doubt.
  bool is_beyond_doubt() const;
  /// How much longer the other method takes than the one in use, as the logarithm of the ratio; 0
  /// before the first check.
  double ahead() const { return in_use_ == Method::tuned ? mean_ : -mean_; }
  uint32_t checks() const { return checks_; }
  /// The method in use is faster, beyond the uncertainty of what was found.
  bool is_sure() const;
  /// What an execution takes in the method in use; 0: none was timed.
  double used_s() const { return recent_.typical(); }
  /// What all executions took so far, and by how much longer checks took than the method in use
  /// would have; restart() does not change either.
  double taken_s() const { return taken_s_; }
  double excess_s() const;

  /// What came of the site so far, for reports. Zero before the first check.
  struct Balance {
    double actual_s = 0;    ///< all executions
    double baseline_s = 0;  ///< had all been carried out as the baseline
    double error_s = 0;     ///< standard error of the difference
  };
  Balance balance() const;

 private:
  // The latest times of the method in use.
  class Recent {
   public:
    void add(double seconds);
    void clear() { count_ = next_ = 0; }
    uint32_t count() const { return count_; }
    bool is_full() const { return count_ == kTimes; }
    // The median, of an even number the lower one of two: what disturbs an execution makes it
    // longer.
    double typical() const;
    double least() const;
    double sum() const;
    // What is between the quartiles, as a part of the lower one, so that a single disturbance does
    // not matter.
    double scatter() const;

    static constexpr uint32_t kTimes = 5;

   private:
    double in_order(uint32_t place) const;
    std::array<double, kTimes> times_{};
    uint32_t count_ = 0;
    uint32_t next_ = 0;
  };

  // Executions.
  struct Sum {
    double seconds = 0;
    double executions = 0;
    void add(double one_s) {
      seconds += one_s;
      executions += 1;
    }
  };

  Method other() const { return in_use_ == Method::tuned ? Method::baseline : Method::tuned; }
  // Executions of a check, the last of which counts.
  uint32_t of_check() const { return of_ == Of::turns ? 1 : 2; }
  double expected_excess_s(double used_s) const;
  double longest_check_s(double used_s) const;
  void account(const Turn& turn, double seconds);
  double latest_excess_s() const;
  void settle_account();
  void close_account();
  bool has_degraded() const;
  void forget_if_changed();
  bool is_due(uint64_t place) const;
  void look_for_surprise();
  void distrust(double tuned_s);
  void compare(Method method, double seconds);
  void average(double ratio);
  double pairs() const;
  double deviation() const;
  void judge();

  Of of_ = Of::site;
  uint32_t sharers_ = 1;
  Method begun_with_ = Method::tuned;
  Method in_use_ = Method::tuned;
  bool demoted_ = false;
  bool suspended_ = false;   // the tuned method has lost, which is to be confirmed
  bool urgent_ = false;      // a check is to be made at once
  bool degraded_ = false;    // the method in use, at the latest check
  bool surprised_ = false;   // the plan may have been losing, which was answered
  bool distrusted_ = false;  // the plan was left as its model errs, or is not to be
  bool settling_ = true;     // the next execution says little of its method
  uint32_t left_ = 0;        // executions of the check that is in progress
  uint32_t checks_ = 0;      // since the last restart
  uint64_t place_ = 0;       // executions so far
  uint64_t not_before_ = 0;  // the place of the next check
  uint64_t checked_at_ = 0;  // that of the latest one
  double assumed_ = 1;
  std::array<Forecast, 2> forecasts_{};  // by method
  std::array<double, 2> before_s_{};     // remember()
  double taken_s_ = 0;
  // What checks took longer, but for the latest one, with the execution after it; and what those
  // beside it took.
  double excess_s_ = 0;
  Sum of_check_;
  Sum beside_;
  bool after_check_ = false;  // the latest execution was of a check
  double settled_s_ = 0;      // the latest one by the method in use that settles; 0: none
  double first_s_ = 0;        // the first one of the check that is in progress; 0: none
  Recent recent_;
  double reference_s_ = 0;  // what the method in use took at the latest check; 0: not known
  // Scatter of executions by one method: squares of differences of logarithms.
  double own_squares_ = 0;
  double own_count_ = 0;
  // Over checks: ln(baseline / tuned).
  double weight_ = 0;
  double weight_squares_ = 0;
  double mean_ = 0;
  double squares_ = 0;
  static constexpr uint32_t kFirstChecks = 4;
  std::array<double, kFirstChecks> first_{};  // the first ratios, of counted_
  uint32_t counted_ = 0;
  // By method.
  std::array<double, 2> mean_log_s_{};
  std::array<double, 2> sums_s_{};  // what executions took, and their number
  std::array<double, 2> executions_{};
};

}  // namespace stripline::plan
