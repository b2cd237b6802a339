// What every launcher of others must make of a job of ours: tests that mpirun and srun share.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/e2e/processes.h"

namespace stripline::e2e {

/// Runs a job to its end: options of the launcher, the program and its arguments; variables of the
/// ranks.
using RunJob = std::function<Finished(const std::vector<std::string>& arguments,
                                      const std::map<std::string, std::string>& environment)>;

/// A job whose rank 1 of 3 is killed ends soon, and badly; the launcher says `named` of it.
void expect_killed_rank_ends_the_job(const RunJob& run, const std::string& named);

/// So does one of which a rank exits in good order, but in the middle. Returns what the launcher
/// makes of exit code 3 of rank 0.
int expect_rank_that_exits_ends_the_job(const RunJob& run);

/// A rank that loses a peer ends the job with a message of its own.
void expect_lost_peer_is_named(const RunJob& run);

/// Codes of errors of ours, and of the program's own, are the job's.
void expect_exit_code_is_passed_on(const RunJob& run);

/// A rank that hangs before joining ends the job with a message.
void expect_rank_that_never_joins_ends_the_job(const RunJob& run);

/// The program of a rank uses MPI, too; `first` is what it initialises first, `last` what it ends
/// last ("mpi", "stripline").
void expect_mpi_works_besides(const RunJob& run, const std::string& first, const std::string& last);

/// True if that program was built.
bool has_mpi_program();

}  // namespace stripline::e2e
