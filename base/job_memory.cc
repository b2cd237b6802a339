#include "base/job_memory.h"

#include <limits>
#include <string>

#include "base/quantity.h"

namespace stripline {

uint64_t total_bytes(const JobMemory& job) {
  uint64_t each = 0;
  uint64_t all = 0;
  if (__builtin_add_overflow(job.segment_bytes, job.runtime_bytes, &each) ||
      __builtin_mul_overflow(job.ranks, each, &all)) {
    return std::numeric_limits<uint64_t>::max();
  }
  return all;
}

Status check_job_memory(const JobMemory& job, const MemoryLimits& limits) {
  const uint64_t needed = total_bytes(job);
  const uint64_t room = limits.allocatable_bytes();
  if (needed <= room) return {};
  return Error(ErrorCode::resource_exhausted,
               std::to_string(job.ranks) + (job.ranks == 1 ? " rank needs " : " ranks need ") +
                   bytes_text(needed) + " of memory, a segment of " +
                   bytes_text(job.segment_bytes) + " and " + bytes_text(job.runtime_bytes) +
                   " of the runtime each, and " + limits.limited_by() + " has " + bytes_text(room) +
                   " to give; ask for smaller segments (" + std::string(job.size_setting) +
                   ") or fewer ranks");
}

}  // namespace stripline
