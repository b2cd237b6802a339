// Looks at the ranks of a job from outside, now and then: which processes are stopped, whether any
// rank gets on, and where each of them is.
//
// What ends a job is decided by what cannot be mistaken. A rank that computes for hours without a
// call is in order, and looks to its peers like one that hangs; but a stopped process (state T)
// computes nothing. When all ranks wait, each in one and the same wait, or sleep outside of calls,
// that is mostly a mistake of the program's, but may be a person whom it asks; it is said, and the
// job goes on.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"

namespace stripline::bootstrap {

struct WatchSettings {
  /// A process that is stopped for this long, while others of the job are not, ends the job.
  double peer_timeout_s = 120;
  /// When no rank has got on for this long, that is said. Infinity: never.
  double stall_notice_s = 60;
};

/// STRIPLINE_PEER_TIMEOUT and STRIPLINE_STALL_NOTICE, of `environment` before this process's own.
/// Errors: invalid_argument.
Result<WatchSettings> watch_settings(const std::map<std::string, std::string>& environment);

/// What can be seen of one rank.
struct RankSight {
  enum class Stage : uint8_t {
    starting,  ///< has not joined yet
    joined,
    failed,  ///< has said that it ends because of an error
    left,    ///< has left the job in good order
    ended,   ///< its process has
  };
  Stage stage = Stage::starting;
  char state = 0;          ///< of its process (ProcessState::state); 0: not known
  pid_t pid = 0;           ///< of its process
  std::string host;        ///< that has numbered the process; empty: this one
  uint64_t cpu_ticks = 0;  ///< ProcessState::cpu_ticks
  uint64_t waits = 0;      ///< begun and ended (OperationMemory::waits)
  uint64_t points = 0;     ///< begun (LaunchOptions::records_points)
  std::string operation;   ///< what it is in (OperationRecords::last_operation()); for where() only

  bool stopped() const { return state == 'T'; }
  /// What `operation` is of is known.
  bool in_job() const { return stage == Stage::joined || stage == Stage::failed; }
  bool waiting() const { return in_job() && (waits & 1) != 0; }
};

/// Times are seconds on any clock that does not go back. Of the time between two looks, at most a
/// second or twice interval_s() counts against ranks: a launcher that was stopped itself has seen
/// nothing.
class JobWatch {
 public:
  /// `first_rank` is the number of the first of `ranks`, for messages.
  JobWatch(uint32_t first_rank, uint32_t ranks, WatchSettings settings);

  /// How long to wait between two looks.
  double interval_s() const;

  /// A look at all ranks. Once some are stopped and others are not for the peer timeout, returns
  /// which: "rank 1 has been stopped for 10 s (state T, process 4711) ...". A job that is suspended
  /// as a whole is left alone, and so are processes held by a debugger.
  std::optional<std::string> look(double now_s, std::span<const RankSight> ranks);

  /// True if, as of the last look, no rank has got on for the time after which that is said: all
  /// that have neither left nor ended wait, are stopped or held, or use no processor time, and one
  /// at least waits. True once.
  bool has_stalled();

  /// Where the ranks were at the last look, those alike on one line, e.g.
  ///     rank 0: waiting for 12 s in allreduce (churn.cc:44)
  ///     ranks 1-3, 7: computing for 3 s, last call barrier (solver.cc:12)
  /// With indentation, and '\n' between lines. `ranks` are the sights of that look.
  std::string where(std::span<const RankSight> ranks) const;

 private:
  struct Seen {
    uint64_t waits = 0;
    double same_s = 0;     ///< it has been in the same wait, or the same computation
    double stopped_s = 0;  ///< it has been stopped while others were not
    uint64_t cpu_ticks = 0;
    bool idle = false;  ///< has used no processor time since the look before
  };

  const uint32_t first_rank_;
  const WatchSettings settings_;
  std::vector<Seen> seen_;
  std::optional<double> looked_s_;
  double stalled_s_ = 0;
  bool told_ = false;  ///< has_stalled() has been true
};

/// "0-3, 5" for {0, 1, 2, 3, 5}.
std::string rank_list(std::span<const uint32_t> ranks);

}  // namespace stripline::bootstrap
