// The processors of this host that jobs have bound their ranks to, so that the next job takes
// others: two launchers that know nothing of each other would choose the same ones (the complaint
// about two mpirun on one node, each of which binds from core 0 on).
//
// A claim is an advisory lock on the byte of the processor's number of a folder that all launchers
// see (fcntl(2), open file description locks). The kernel drops it with the launcher, however that
// ends; nothing is written anywhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"

namespace stripline::machine {

/// Where launchers look. Containers that share it see each other's jobs; those that do not, do not.
inline constexpr const char* kClaimsFolder = "/dev/shm";

/// The claims of one job. Not thread-safe.
class ProcessorClaims {
 public:
  /// Errors: unavailable if the folder is not there or cannot be locked.
  static Result<ProcessorClaims> open(const std::string& folder = kClaimsFolder);

  /// True if another job has claimed the processor (as the kernel counts).
  bool taken(uint32_t processor) const;

  /// Claims all of them until this object ends; none, and false, if another job has or gets one.
  bool claim(std::span<const uint32_t> processors);

 private:
  explicit ProcessorClaims(UniqueFd folder) : folder_(std::move(folder)) {}

  UniqueFd folder_;
};

/// Where the ranks of a job run.
struct Places {
  std::vector<std::vector<uint32_t>> processors;  ///< by rank; empty: unbound
  uint32_t taken = 0;  ///< processors that other jobs have, of those that may be used
  std::vector<ProcessorClaims> held;  ///< keep it while the ranks run; at most one
};

/// Finds and claims processors for `ranks`: those of place_ranks() (placement.h) among the ones
/// that no other job has, on cores of which no other job has any if those suffice. Unbound if there
/// are too few: a rank that shares a processor with another job while a third idles would slow down
/// its whole job. Where claims cannot be made, those of other jobs are not known.
Places claim_places(uint32_t ranks, const std::string& folder = kClaimsFolder);

}  // namespace stripline::machine
