// Whether a host has room for a job, found out before its ranks start: what would otherwise show as
// a missing provider, a failed registration or a killed rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stripline::machine {

/// The ranks of a job on one host.
struct JobPlan {
  std::string fabric = "tcp";  ///< as the user writes it
  uint32_t ranks = 1;
  uint64_t segment_bytes = 0;  ///< of each
};

/// What this host has for them.
struct HostRoom {
  uint64_t memory_bytes = 0;               ///< that may still be allocated
  std::optional<uint64_t> shm_free_bytes;  ///< of /dev/shm; nullopt: not mounted
  std::optional<uint64_t> lockable_bytes;  ///< of a process; nullopt: unlimited, or CAP_IPC_LOCK
  uint32_t processors = 1;                 ///< of the host
  uint64_t descriptors = 1024;             ///< that a process may have open

  static HostRoom read();
};

struct Preflight {
  std::optional<Error> refusal;       ///< the job cannot run: resource_exhausted, unavailable
  std::vector<std::string> warnings;  ///< it may fail, and what to change
};

/// Pure. Refuses more ranks than a process may have descriptors for, and emulated ranks whose
/// segments /dev/shm cannot hold. Warns of the shm provider without the room that it asks for, of
/// segments that exceed the memory, and of a limit of locked memory below a segment where the
/// provider registers memory with a device.
Preflight check_host(const JobPlan& plan, const HostRoom& room);

/// Whether a fabric registers memory with a device, which locks it: every provider but those that
/// move data with loads, stores and sockets.
bool locks_memory(std::string_view fabric);

}  // namespace stripline::machine
