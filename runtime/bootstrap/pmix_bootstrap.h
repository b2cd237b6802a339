// A rank that mpirun, srun or another launcher with a PMIx server has started.
#pragma once

#include <memory>

#include "base/result.h"
#include "runtime/bootstrap/bootstrap.h"

namespace stripline::bootstrap {

/// True if a PMIx server started this process (PMIX_NAMESPACE and PMIX_RANK are set).
bool started_by_pmix();

/// This rank's place in the job that PMIx knows, and a bootstrap over PMIx:
///
///   exchange        PMIx_Put, PMIx_Commit, PMIx_Fence with the data, PMIx_Get per rank. A rank
///   that
///                   has not come within STRIPLINE_JOIN_TIMEOUT seconds (default 60) ends it with
///                   deadline_exceeded.
///   report_failure  writes the message to standard error and calls PMIx_Abort, which ends all
///                   ranks of the job with this error's exit code.
///   left            PMIx_Finalize.
///   control         there is none.
///
/// A rank whose server is gone (a killed mpirun) ends within moments, wherever it is.
///
/// Collective: rank 0 makes up the job id, which all others wait for; PMIx's own names of jobs come
/// again, e.g. when the process number of an mpirun does. MPI may be initialised before or after,
/// and finalised before or after: PMIx counts its users. Once per process. Errors: unavailable if
/// the library is missing or too old, or PMIx_Init fails; those of exchange.
Result<std::unique_ptr<Bootstrap>> join_pmix_job();

}  // namespace stripline::bootstrap
