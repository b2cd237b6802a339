// Notices that processes of this host have ended. Some providers (shm, udp) never report a dead
// peer, and others only when something is sent to it.
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

 private:
  UniqueFd epoll_;
  std::vector<UniqueFd> processes_;
  std::vector<uint32_t> ended_;
};

}  // namespace stripline::fabric::ofi
