// How long an agent stays: as a service until it is asked to stop; in a job until there is no work
// for it, or until the job's end comes near. A state machine that reads no clock: times are those
// of the caller's clock.
#pragma once

#include <optional>

namespace stripline::agent {

struct StayLimits {
  /// The job ends then; nullopt: no end is known.
  std::optional<double> end_s;
  /// From this time before the end on, no new runs are taken.
  double leave_before_end_s = 60;
  /// What is being measured is ended this time before the end.
  double stop_before_end_s = 10;
  /// Without work for this long the agent ends; nullopt: it waits for ever.
  std::optional<double> idle_s;
};

class Stay {
 public:
  enum class Wish {
    stay,
    leave,  ///< take no new runs, and end when nothing is being measured
    stop    ///< end now
  };

  Stay(const StayLimits& limits, double now_s) : limits_(limits), idle_since_s_(now_s) {}

  /// It is to leave, and to stop after `limit_s` at the latest, whatever the job's end is.
  void leave(double now_s, double limit_s);

  /// What the agent is to do; `measuring`: a run is in progress.
  Wish wish(double now_s, bool measuring);
  /// When that may change although nothing happens.
  std::optional<double> next_event_s() const;
  /// True if it is to take no new runs.
  bool leaving() const { return leaving_; }
  /// True if it ends because there was no work.
  bool idle() const { return idle_; }
  /// How long it may measure from now on; nullopt: no end is known.
  std::optional<double> available_s(double now_s) const;

 private:
  StayLimits limits_;
  double idle_since_s_;
  std::optional<double> stop_s_;  // once it is to leave
  bool measuring_ = false;
  bool leaving_ = false;
  bool idle_ = false;
};

}  // namespace stripline::agent
