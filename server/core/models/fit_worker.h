// Fitting in a child process: what goes wrong there (an exception, too much memory, a fit without
// an end) ends the child and not the server.
#pragma once

#include <cstdint>
#include <string>

#include "server/core/models/fit_job.h"

namespace stripline::server {

/// The hidden command of stripline-server that is the child.
inline constexpr const char* kFitWorkerCommand = "fit-worker";

struct FitLimits {
  uint64_t memory_bytes = uint64_t{4} << 30;  ///< Limit of the child's address space.
  double time_s = 600;
};

/// A fitter that starts `program` with kFitWorkerCommand, hands it the job and takes its answer.
/// Errors: what the child answered; aborted when it ended without an answer; deadline_exceeded;
/// cancelled when it is asked to stop; those of Subprocess::spawn().
Fitter fit_in_child(std::string program, const FitLimits& limits);

/// The child: reads a job from `in`, a socket or pipe, until its end, fits it within
/// `memory_bytes`, and writes the answer to `out`. Returns the exit code.
int run_fit_worker(int in, int out, uint64_t memory_bytes);

}  // namespace stripline::server
