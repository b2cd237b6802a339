// What ranks that were killed leave behind on the host.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace stripline::agent {

/// Removes the shared memory of an ended job: the emulated fabric's, named after the job, and what
/// libfabric's shm provider names after its processes ("PID:..."). Those that left in good order
/// have done so themselves; then this does nothing.
void remove_leftovers(const std::string& job_id, const std::vector<pid_t>& ranks);

}  // namespace stripline::agent
