// Tells whether a host has the memory for the ranks of a job, asked before they start: a host that
// runs out of it thrashes or kills at random, and takes long to recover.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/memory_limits.h"
#include "base/result.h"

namespace stripline {

/// The ranks of a job on one host.
struct JobMemory {
  uint64_t ranks = 1;
  uint64_t segment_bytes = 0;  ///< of each
  uint64_t runtime_bytes = 0;  ///< of each, beside its segment
  /// What sets the size of segments, for messages.
  std::string_view size_setting = "--segment, STRIPLINE_SEGMENT_BYTES";
};

/// All of it; the largest number there is if it does not fit into 64 bits.
uint64_t total_bytes(const JobMemory& job);

/// Errors: resource_exhausted if the host, or this process's control group, has not so much to
/// give; the message names the sum, the limit, and what to do. Ok where no limit can be read.
Status check_job_memory(const JobMemory& job, const MemoryLimits& limits);

}  // namespace stripline
