#include "tests/e2e/launched_jobs.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/exit_codes.h"

namespace stripline::e2e {

void expect_killed_rank_ends_the_job(const RunJob& run, const std::string& named) {
  const double start = steady_seconds();
  const Finished job = run({"-n", "3", program("hello"), "--kill", "1"}, {});
  EXPECT_LT(steady_seconds() - start, 10);
  EXPECT_GT(job.exit_code, 0);
  EXPECT_NE(job.err.find(named), std::string::npos) << job.err;
}

int expect_rank_that_exits_ends_the_job(const RunJob& run) {
  const double start = steady_seconds();
  const int of_rank_0 = run({"-n", "2", program("hello"), "--exit", "0", "3"}, {}).exit_code;
  EXPECT_GT(of_rank_0, 0);
  EXPECT_GT(run({"-n", "2", program("hello"), "--exit", "1", "0"}, {}).exit_code, 0);
  EXPECT_LT(steady_seconds() - start, 20);
  return of_rank_0;
}

void expect_lost_peer_is_named(const RunJob& run) {
  const Finished job =
      run({"-n", "3", program("hello"), "--wait"},
          {{"STRIPLINE_FABRIC", "emulated:opteron-vapi,compute=none,lose=1@0.00002"},
           {"STRIPLINE_CLOCK", "virtual"}});
  EXPECT_EQ(job.exit_code, kExitRankDied) << job.err;
  EXPECT_NE(job.err.find("lost contact with rank 1"), std::string::npos) << job.err;
  EXPECT_NE(job.err.find(" on "), std::string::npos) << job.err;
  EXPECT_NE(job.err.find(", during "), std::string::npos) << job.err;
}

void expect_exit_code_is_passed_on(const RunJob& run) {
  const Finished wrong = run({"-n", "2", program("hello")}, {{"STRIPLINE_SEED", "x"}});
  EXPECT_EQ(wrong.exit_code, kExitUsage) << wrong.err;
  EXPECT_NE(wrong.err.find("STRIPLINE_SEED='x' is not"), std::string::npos) << wrong.err;
  const Finished returned = run({"-n", "2", program("hello"), "--return", "8"}, {});
  EXPECT_EQ(returned.exit_code, 8) << returned.err;
}

void expect_rank_that_never_joins_ends_the_job(const RunJob& run) {
  const Finished job = run({"-n", "2", program("hello"), "--sleep-before-join", "1"},
                           {{"STRIPLINE_JOIN_TIMEOUT", "2"}});
  EXPECT_EQ(job.exit_code, kExitTimeout) << job.err;
  EXPECT_NE(job.err.find("error: rank 0 on "), std::string::npos) << job.err;
  EXPECT_NE(job.err.find("some of the 2 ranks have not joined the job within 2 s"),
            std::string::npos)
      << job.err;
}

void expect_mpi_works_besides(const RunJob& run, const std::string& first,
                              const std::string& last) {
  // Open MPI leaks, from plugins that are unloaded when leaks are looked for.
  const Finished job =
      run({"-n", "2", program("beside_mpi"), first, last}, {{"ASAN_OPTIONS", "detect_leaks=0"}});
  EXPECT_EQ(job.exit_code, kExitOk) << first << " first, " << last << " last: " << job.err;
  EXPECT_EQ(lines_with(job.out, "both work"), 2U) << job.out;
}

bool has_mpi_program() { return std::filesystem::exists(program("beside_mpi")); }

}  // namespace stripline::e2e
