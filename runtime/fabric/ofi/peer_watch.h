// Notices that processes of this host have ended, or are stopped. Some providers (shm, udp) never
// report a dead peer, and others only when something is sent to it.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>
#include <vector>

#include "base/subprocess.h"

namespace stripline::fabric::ofi {

class PeerWatch {
 public:
  /// Starts watching a process of this PID namespace. A process that has ended already is reported
  /// by the next poll(). Where the kernel cannot watch (before Linux 5.3, too many descriptors),
  /// nothing is reported for it.
  void add(uint32_t rank, pid_t pid);

  /// The rank of a watched process that has ended since; each is reported once. One system call
  /// while something is watched.
  std::optional<uint32_t> poll();

  /// A process that is stopped (state T).
  struct Stopped {
    uint32_t rank = 0;
    pid_t pid = 0;
  };
  /// Looks at the states of the next kLooks processes. Returns one that was stopped at every look
  /// for `for_s`; `now_s` is on a clock that stands still while this process does.
  std::optional<Stopped> stopped(double now_s, double for_s);

  /// Processes that a call looks at, however many a node has: each of its ranks looks.
  static constexpr size_t kLooks = 16;

 private:
  struct Process {
    uint32_t rank = 0;
    pid_t pid = 0;
    double stopped_at_s = kRuns;
  };
  static constexpr double kRuns = -1;

  UniqueFd epoll_;
  std::vector<UniqueFd> descriptors_;
  std::vector<Process> processes_;
  size_t next_ = 0;  ///< of processes_, to be looked at
  std::vector<uint32_t> ended_;
};

}  // namespace stripline::fabric::ofi
