// How much memory this process may use and lock, from the kernel and its control groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/control_groups.h"

namespace stripline {

/// What a control group leaves.
struct GroupRoom {
  uint64_t free_bytes = 0;  ///< of its limit, page cache that the kernel would give up not counted
  std::string folder;       ///< whose limit that is
};

struct MemoryLimits {
  uint64_t total_bytes = 0;        ///< MemTotal; 0: /proc cannot be read
  uint64_t available_bytes = 0;    ///< MemAvailable
  std::optional<GroupRoom> group;  ///< the least of this process's groups, if one is limited
  std::optional<uint64_t> lockable_bytes;  ///< RLIMIT_MEMLOCK; nullopt: unlimited

  /// What an allocation may take at most now. The largest number there is where nothing is known.
  uint64_t allocatable_bytes() const;
  /// Owner of the limit, for messages: "this host", "the control group /sys/fs/cgroup/a".
  std::string limited_by() const;

  static MemoryLimits read();
};

/// Limits of the shell (setrlimit) that can keep a rank from starting, or end it; nullopt:
/// unlimited.
struct ShellLimits {
  std::optional<uint64_t> address_space_bytes;  ///< RLIMIT_AS, `ulimit -v`
  std::optional<uint64_t> data_bytes;           ///< RLIMIT_DATA, `ulimit -d`
  std::optional<uint64_t> file_bytes;           ///< RLIMIT_FSIZE, `ulimit -f`
  std::optional<uint64_t> processes;            ///< RLIMIT_NPROC, `ulimit -u`: of the user
  std::optional<uint64_t> processor_s;          ///< RLIMIT_CPU, `ulimit -t`: of a process
  std::optional<uint64_t> stack_bytes;          ///< RLIMIT_STACK, `ulimit -s`: of each thread
  std::optional<uint64_t> open_files;           ///< RLIMIT_NOFILE, the hard one, `ulimit -Hn`

  static ShellLimits read();
};

/// The limit behind the signal that has ended a process under `limits`, with its remedy, to follow
/// the name of the signal: certain for SIGXCPU and SIGXFSZ, possible for SIGKILL, by which the
/// kernel ends what has used up its processor time, and for SIGSEGV where the stack is a small one.
/// Empty where no limit explains the signal.
std::string limit_behind(int signal, const ShellLimits& limits);

/// False if `ulimit -f` forbids files of this size, shared memory among them: a process that sizes
/// one all the same is ended by SIGXFSZ.
bool may_size_file(uint64_t bytes);

/// The least room in the control groups (version 1 or 2) that `membership`, the text of
/// /proc/PID/cgroup, names below `root`, and in those around them. nullopt: none has a limit.
std::optional<GroupRoom> group_room(std::string_view membership,
                                    const std::string& root = kControlGroupRoot);

}  // namespace stripline
