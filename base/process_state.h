// What the kernel says of another process.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace stripline {

struct ProcessState {
  /// As in /proc/PID/stat: R runs, S sleeps, D waits in the kernel, T stopped by a signal, t held
  /// by a debugger, Z has ended.
  char state = 0;
  pid_t group = 0;         ///< its process group
  uint64_t cpu_ticks = 0;  ///< processor time that it has used, all threads, of 10 ms or so

  bool stopped() const { return state == 'T'; }
};

/// The state of a process of this PID namespace; nullopt if there is none, or where /proc cannot be
/// read. One open, read and close; allocates nothing.
std::optional<ProcessState> process_state(pid_t pid);

}  // namespace stripline
