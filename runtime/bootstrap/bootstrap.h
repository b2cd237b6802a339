// How the ranks of a job find each other. A Bootstrap knows this process's place in the job, swaps
// endpoint addresses with all other ranks once, and carries the news of how the rank ended.
//
// Implementations: the control channel of a launcher (docs/worker-protocol.md), PMIx under mpirun
// and srun (pmix_bootstrap.h), a job of one process, and ranks that are threads (thread_group.h) or
// fibers (runtime/rma/fiber_group.h) of one process.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/bootstrap/operation_record.h"

namespace stripline {
class JsonChannel;
}
namespace stripline::fabric {
class Crew;
}

namespace stripline::bootstrap {

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  virtual uint32_t rank() const = 0;
  virtual uint32_t ranks() const = 0;
  /// Unique among the jobs that a host has run since it booted; names shared memory.
  virtual const std::string& job_id() const = 0;

  /// Collective, once per job: gives this rank's endpoint address (any bytes) and returns all
  /// ranks' addresses, by rank. How long the slowest rank may take is the launcher's decision: it
  /// answers with an abort then, and its own death ends the wait.
  /// Errors: the launcher's abort as it was sent; unavailable if the launcher is gone; data_loss if
  /// it answers something else.
  virtual Result<std::vector<std::string>> exchange(const std::string& address) = 0;

  /// Tells whoever started this rank why it is about to exit, who ends the other ranks. Returns
  /// whether there was somebody to tell; the message is then shown, if not, the caller shows it.
  /// May not return at all, because the launcher ends this process, too.
  virtual bool report_failure(const Error& error) = 0;

  /// Tells the launcher that this rank has left the job in good order. What the process does
  /// afterwards no longer concerns its peers.
  virtual void left() = 0;

  /// Asks whoever started the ranks to end all of them with this exit status of the job; `why` is
  /// shown where that is not 0. Ranks that leave by themselves within a moment may. Returns false
  /// where no one can be asked: then only this rank's own exit status tells.
  virtual bool end_job([[maybe_unused]] int status, [[maybe_unused]] const std::string& why) {
    return false;
  }

  /// The channel to the launcher, for programs that take orders over it (the suite worker); null
  /// when there is none. Owned by the bootstrap. Read it only after exchange().
  virtual JsonChannel* control() = 0;

  /// Where the launcher wants to find what this rank did last; null if it does not ask.
  virtual OperationMemory* operation_memory() { return nullptr; }

  /// True if another rank is known to run its program, outside of waits: what it owes its peers may
  /// still come. False where nothing is known of it.
  virtual bool computes([[maybe_unused]] uint32_t rank) const { return false; }

  /// True if who started the ranks notices when one of their processes is stopped.
  virtual bool notices_stopped() const { return false; }

  /// True if who started the ranks says when none of them gets on, or no one needs to know.
  virtual bool tells_of_stalls() const { return true; }

  /// True if who started the ranks has made sure of room for the segments of all of them on this
  /// host, or was asked not to.
  virtual bool room_is_known() const { return false; }

  /// The fibers that this rank is one of; null if it is none.
  virtual fabric::Crew* crew() { return nullptr; }
};

/// The job that the environment describes: STRIPLINE_RANK, STRIPLINE_RANKS, STRIPLINE_JOB_ID and
/// STRIPLINE_CONTROL_FD as in docs/worker-protocol.md; if STRIPLINE_RANK is not set, the job of
/// mpirun or srun (PMIX_NAMESPACE and PMIX_RANK, pmix_bootstrap.h); else a job of this process
/// alone. Prepares the descriptors of the process (base/descriptors.h). The control descriptor
/// becomes close-on-exec, so that programs the rank starts do not keep it open. The kernel kills a
/// rank with the process that started it, be it the launcher or a wrapper around the rank. Errors:
/// invalid_argument if a variable is missing, does not parse, or names no open descriptor; those of
/// join_pmix_job().
Result<std::unique_ptr<Bootstrap>> from_environment();

}  // namespace stripline::bootstrap
