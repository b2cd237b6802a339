// Repeating one point within a run: warm-up, batches, and when to stop.
//
// Warm-up rule: leading repetitions are dropped until one is at most 10% faster than the one before
// it. At least one and at most 8 are dropped, and none after a quarter of the time budget is spent.
// Their number is recorded in SampleSeries::warmup_dropped.
//
// Stopping: the sequential rule of optimizer/stats/stopping.h, looked at after batches whose ends
// grow by a factor of 1.5 and shrink with what is left of the time budget. Times, the budget's
// included, are on the fabric's clock.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "suites/session.h"

namespace stripline::suites {

/// Decides how many repetitions to make. Pure but for what it is given.
class RepetitionControl {
 public:
  /// `least`: as of stats::check_repetitions().
  RepetitionControl(const experiment::StopRule& rule, double now_s, double least = 0);

  /// How many repetitions to make before asking again; 0: stop.
  size_t next_batch(double now_s);

  /// One repetition, in the metric's unit, that ended at `now_s`.
  void add(double value, double now_s);

  /// Moves values, time stamps, warm-up and stop reason into `series`.
  void finish(experiment::SampleSeries& series);

 private:
  bool still_warming(double now_s) const;

  experiment::StopRule rule_;
  double start_s_;
  double least_;
  bool warming_ = true;
  uint32_t warmup_ = 0;
  double previous_ = 0;
  double last_ = 0;
  std::vector<double> values_;
  std::vector<double> timestamps_s_;
  experiment::StopReason reason_ = experiment::StopReason::max_reps;
};

/// A rule that contradicts itself: invalid_argument. To be asked before the first repetition, on
/// every rank.
Status check_stop_rule(const experiment::StopRule& rule);

/// Only rank 0 repeats; the caller keeps the others inside the library (they wait in a barrier that
/// rank 0 enters when this returns). `repetition` takes its own times and returns the sample.
void repeat_alone(Session& session, const experiment::StopRule& rule,
                  const std::function<double()>& repetition, experiment::SampleSeries& series);

/// Collective: every rank repeats equally often. A sample is the maximum over the ranks of what
/// `repetition` returns. Rank 0 decides and announces the size of the next batch, all outside of
/// what `repetition` times. `series` is filled on rank 0 only. `least`: of samples that may be
/// nothing, what still matters (stats::check_repetitions()).
void repeat_together(Session& session, const experiment::StopRule& rule,
                     const std::function<double()>& repetition, experiment::SampleSeries& series,
                     double least = 0);

}  // namespace stripline::suites
