// Launches of a target's driver on this host: fresh processes each, ended when they hang, with
// nothing of theirs left behind.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "optimizer/targets/target.h"
#include "suites/targets/adapters/adapter.h"
#include "suites/targets/driver_plan.h"
#include "suites/targets/work_folder.h"

namespace stripline::suites::tune {

/// How a launch ended.
struct Launched {
  DriverOutput output;
  /// Why it did not come to its end, as part of a sentence: "hung for 10 s", "exited with code 3".
  /// Empty: it did. The cell and the variant are `output.unfinished`.
  std::string failure;
  /// It was ended, or not begun, as the time was up (end_within()). That is not a failure.
  bool out_of_time = false;
  std::string said;  ///< the end of what the target wrote to standard error
};

class Launcher {
 public:
  /// `cancel_fd`: readable when the user cancels; -1: never. All must outlive this.
  Launcher(const Adapter& adapter, std::string program, const WorkFolder& folder,
           targets::Path path, int cancel_fd);

  /// Carries out a plan with these variables in addition. Errors: cancelled; unavailable where
  /// nothing can be started; data_loss for output that the plan does not explain.
  Result<Launched> run(DriverPlan& plan, const Environment& environment);

  /// A launch that prints nothing for this time has hung; before its first line it may take a
  /// minute. One that has reported everything and does not exit is ended, which is not a failure.
  void set_stall_limit(double seconds) { stall_limit_s_ = seconds; }
  /// From now on: launches that have not ended by then are, and none is begun afterwards.
  void end_within(double seconds);
  /// What is left of that time; below zero when it is up, infinite where there is no such limit.
  double left_s() const;
  size_t launches() const { return launches_; }
  const WorkFolder& folder() const { return folder_; }
  const Adapter& adapter() const { return adapter_; }
  /// The numbers of control variables in the installed version. Errors: those of the adapter.
  Result<const targets::Renumbering*> renumbering();

 private:
  const Adapter& adapter_;
  std::string program_;
  const WorkFolder& folder_;
  targets::Path path_;
  int cancel_fd_;
  double stall_limit_s_ = 15;
  std::optional<std::chrono::steady_clock::time_point> end_;
  std::optional<Environment> environment_;  ///< of every launch, found out by the first one
  std::optional<targets::Renumbering> renumbering_;  ///< likewise
  size_t launches_ = 0;
};

/// Control variables of the target's alternatives that the installed version does not let a driver
/// set, by a launch of one rank. Errors: those of launches; aborted where it ends early,
/// deadline_exceeded where there is no time for it.
Result<std::set<std::string>> unsettable_variables(Launcher& launcher);

}  // namespace stripline::suites::tune
