// A job: starts its ranks, introduces them to each other, watches them, and ends all of them as
// soon as one cannot go on.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/exit_codes.h"
#include "runtime/bootstrap/job_watch.h"
#include "runtime/bootstrap/launcher.h"

namespace stripline::bootstrap {

/// How a job ended.
struct JobOutcome {
  /// kExitOk if every rank left and exited with 0. Otherwise the cause's: a rank's own non-zero
  /// exit code; kExitRankDied if it was killed, or ended with 0 without leaving; kExitTimeout;
  /// kExitCancelled; that of the error if ranks cannot be started.
  int exit_code = kExitOk;
  /// For a person: who ended the job and why. Empty for kExitOk, and when a rank left in good order
  /// and then exited with a code of its own.
  std::string message;
  /// For a person: where the ranks were (JobWatch::where()), if the job was ended because of a
  /// time limit, a cancellation, or a rank that no one hears. Else empty.
  std::string where = {};
  /// The points that the rank which is the cause had begun (LaunchOptions::records_points), if it
  /// was killed or failed by itself. Else 0.
  uint64_t points = 0;
};

struct JobOptions {
  LaunchOptions launch;
  /// Starts the ranks, elsewhere than on this host. Default: Launcher::start().
  std::function<Result<std::unique_ptr<StartedRanks>>(const LaunchOptions&)> start;
  /// Ranks that have not all joined within this time of their start end the job with kExitTimeout.
  double join_timeout_s = 60;
  /// The whole job's limit; kExitTimeout.
  double time_limit_s = std::numeric_limits<double>::infinity();
  /// Descriptor (a signalfd, an eventfd) that becomes readable when the job is to be cancelled: the
  /// ranks get SIGTERM and end with kExitCancelled. -1: none.
  int cancel_fd = -1;
  /// Descriptor that becomes readable when the job is to be suspended (catch_suspend_signal()): the
  /// ranks are stopped, then this process, and they go on with it. -1: none.
  int suspend_fd = -1;
  /// How long ranks may take to end after SIGTERM, before SIGKILL.
  double grace_s = 0.3;
  WatchSettings watch;
  /// Called once with where the ranks are, for a person, when none has got on for
  /// watch.stall_notice_s.
  std::function<void(const std::string& where)> on_stall;
  /// Called with what is seen of all ranks, by number, every two seconds or more often from their
  /// start on. Returns how the job ends if it is to end because of that.
  std::function<std::optional<JobOutcome>(std::span<const RankSight>)> on_look;
  /// Called when all ranks have joined and know each other.
  std::function<void(StartedRanks&)> on_ready;
  /// Called for each message of a rank that is not of the launch itself.
  std::function<void(uint32_t rank, const Json& message, StartedRanks&)> on_message;
};

/// Runs the job to its end. When a rank dies, the others have been ended within `grace_s` plus 0.5
/// s of it. Of several failures, the message names the one that explains the others: a rank that
/// was killed before ranks that lost their peer. A rank may end the job with a status of its choice
/// (Bootstrap::end_job()): those that have neither ended nor crashed before are ended. A rank whose
/// process is stopped while others are not ends the job with kExitRankDied after
/// watch.peer_timeout_s. Ranks that failed alike are counted, not repeated.
JobOutcome run_job(const JobOptions& options);

}  // namespace stripline::bootstrap
