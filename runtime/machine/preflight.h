// Finds out whether a host has room for a job before its ranks start: what would otherwise show as
// a missing provider, a failed registration or a killed rank.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_limits.h"
#include "base/result.h"

namespace stripline::machine {

/// The ranks of a job on one host.
struct JobPlan {
  std::string fabric = "tcp";  ///< as the user writes it
  uint32_t ranks = 1;
  uint32_t job_ranks = 0;      ///< of all hosts of the job; 0: `ranks`
  uint64_t segment_bytes = 0;  ///< of each, or the larger heap that an OpenSHMEM program would have
  std::string size_setting = "--segment, STRIPLINE_SEGMENT_BYTES";  ///< where that comes from
  bool overcommit = false;  ///< memory that the host has not is only warned of
};

/// The job of `ranks` ranks as they will see it, with `environment` beside this process's.
JobPlan plan_job(uint32_t ranks, const std::map<std::string, std::string>& environment);

/// What this host has for them.
struct HostRoom {
  MemoryLimits memory;
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

/// Pure. Refuses more ranks than a process may have descriptors for, ranks that need more memory
/// than the host has (unless the plan overcommits: then it warns), and emulated ranks whose
/// segments /dev/shm cannot hold. Warns of the shm provider without the room that it asks for, and
/// of a limit of locked memory below a segment where the provider registers memory with a device.
Preflight check_host(const JobPlan& plan, const HostRoom& room);

/// What a rank takes beside its segment in a job of `ranks`, once they exchange data: the runtime,
/// libfabric and its buffers. Measured; loops may take STRIPLINE_LOOP_BUFFERS in addition.
uint64_t runtime_bytes(std::string_view fabric, uint32_t ranks);

/// True if a fabric registers memory with a device, which locks it: every provider but those that
/// move data with loads, stores and sockets.
bool locks_memory(std::string_view fabric);

}  // namespace stripline::machine
