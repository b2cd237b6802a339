// What tuned plans saved, by their guards.
#pragma once

#include "optimizer/plan/guard.h"

namespace stripline::decide {

/// Sums over guards (optimizer/plan/guard.h).
struct Savings {
  double actual_s = 0;
  double baseline_s = 0;
  double squared_error = 0;  ///< of the difference, squared seconds
  double sites = 0;          ///< that were compared at least once
  double demoted = 0;        ///< of these, carried out as the baseline now
  double checks = 0;         ///< pairs of times, tuned and baseline, that all this is based on
  double taken_s = 0;        ///< what all that is guarded took, checks included
  double excess_s = 0;       ///< what checks took longer than the method in use would have

  void add(const Savings& other) {
    actual_s += other.actual_s;
    baseline_s += other.baseline_s;
    squared_error += other.squared_error;
    sites += other.sites;
    demoted += other.demoted;
    checks += other.checks;
    taken_s += other.taken_s;
    excess_s += other.excess_s;
  }
  /// Without what the guard has taken.
  void add(const plan::Guard& guard) {
    if (guard.checks() == 0) return;
    const plan::Guard::Balance balance = guard.balance();
    actual_s += balance.actual_s;
    baseline_s += balance.baseline_s;
    squared_error += balance.error_s * balance.error_s;
    sites += 1;
    checks += guard.checks();
    demoted += guard.in_use() == plan::Guard::Method::baseline ? 1 : 0;
  }
};

}  // namespace stripline::decide
