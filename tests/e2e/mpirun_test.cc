// The same programs as under `stripline run`, started by Debian's Open MPI.
#include <algorithm>
#include <filesystem>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "tests/e2e/launched_jobs.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

/// mpirun with the options that it needs as root and on few cores.
std::vector<std::string> mpirun(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {"mpirun", "--allow-run-as-root", "--oversubscribe"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

class Mpirun : public ::testing::Test {
 protected:
  void SetUp() override {
    if (find_in_path("mpirun").empty()) {
      GTEST_SKIP() << "mpirun is not installed (Debian: apt-get install openmpi-bin)";
    }
  }

  static Finished run(const std::vector<std::string>& arguments,
                      const std::map<std::string, std::string>& environment = {}) {
    std::map<std::string, std::string> all = {{"STRIPLINE_SEGMENT_BYTES", "1M"}};
    all.insert(environment.begin(), environment.end());
    return run_program(mpirun(arguments), 30, all);
  }
};

TEST_F(Mpirun, AJobInWhichNobodyGetsOnIsToldWhereItsRanksAre) {
  const Finished job = run({"--timeout", "4", "-n", "3", "sh", "-c",
                            "[ $OMPI_COMM_WORLD_RANK = 1 ] && exec " + program("hello") +
                                " --wait; exec " + program("hello") + " --barrier"},
                           {{"STRIPLINE_STALL_NOTICE", "0.5"}});
  EXPECT_NE(job.exit_code, kExitOk);
  EXPECT_EQ(lines_with(job.err, "no rank has made progress for 500 ms; the job goes on"), 1U)
      << job.err;
  EXPECT_EQ(lines_with(job.err, "ranks 0, 2: waiting for "), 1U) << job.err;
  EXPECT_EQ(lines_with(job.err, " in barrier (hello.cc:"), 1U) << job.err;
  EXPECT_EQ(lines_with(job.err, " in wait_until (hello.cc:"), 1U) << job.err;
}

// PMIx would take them for the rank.
TEST_F(Mpirun, ChildProcessesOfARankAreNoRanks) {
  for (const char* const what : {"exit", "return", "progress"}) {
    const Finished job = run({"-n", "2", program("forks"), what});
    EXPECT_EQ(job.exit_code, kExitOk) << what << ": " << job.err;
    EXPECT_EQ(lines_with(job.out, "still here"), 1U) << what << ": " << job.out;
  }
  const Finished job = run({"-n", "2", program("forks"), "system"});
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  EXPECT_EQ(lines_with(job.err, "this process was started by a rank of a job"), 1U) << job.err;
  EXPECT_EQ(lines_with(job.out, "still here"), 1U) << job.out;
}

class MpirunOnFabric : public Mpirun,
                       public ::testing::WithParamInterface<std::map<std::string, std::string>> {};

TEST_P(MpirunOnFabric, EveryRankGreets) {
  for (const size_t ranks : {size_t{1}, size_t{3}}) {
    const Finished job = run({"-n", std::to_string(ranks), program("hello")}, GetParam());
    EXPECT_EQ(job.exit_code, kExitOk) << job.err;
    EXPECT_EQ(lines_with(job.out, "of " + std::to_string(ranks) + ", greeted by"), ranks)
        << job.out;
    EXPECT_EQ(job.err.find("error"), std::string::npos) << job.err;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Fabrics, MpirunOnFabric,
    ::testing::Values(std::map<std::string, std::string>{{"STRIPLINE_FABRIC", "tcp"}},
                      std::map<std::string, std::string>{{"STRIPLINE_FABRIC", "shm"}},
                      std::map<std::string, std::string>{
                          {"STRIPLINE_FABRIC", "emulated:opteron-vapi,compute=none"},
                          {"STRIPLINE_CLOCK", "virtual"}}),
    [](const auto& test) {
      const std::string fabric = test.param.at("STRIPLINE_FABRIC");
      return fabric.substr(0, fabric.find(':'));
    });

TEST_F(Mpirun, ProgramsUseMpiBesides) {
  if (!has_mpi_program()) {
    GTEST_SKIP() << "built without MPI (Debian: apt-get install libopenmpi-dev)";
  }
  for (const char* first : {"mpi", "stripline"}) {
    for (const char* last : {"mpi", "stripline"}) expect_mpi_works_besides(run, first, last);
  }
}

TEST_F(Mpirun, KilledRankEndsTheJob) { expect_killed_rank_ends_the_job(run, "signal 9"); }

TEST_F(Mpirun, RankThatExitsInMidJobEndsIt) {
  EXPECT_EQ(expect_rank_that_exits_ends_the_job(run), 3);
}

TEST_F(Mpirun, LostPeerIsNamedWithHostAndOperation) { expect_lost_peer_is_named(run); }

TEST_F(Mpirun, ExitCodeOfAnErrorIsPassedOn) { expect_exit_code_is_passed_on(run); }

TEST_F(Mpirun, RankThatNeverJoinsEndsInATimeout) { expect_rank_that_never_joins_ends_the_job(run); }

TEST_F(Mpirun, RankThatIsStoppedEndsTheJob) {
  const Finished job =
      run({"-n", "2", program("waits"), "barrier"}, {{"STRIPLINE_PEER_TIMEOUT", "1"}});
  EXPECT_EQ(job.exit_code, kExitRankDied) << job.err;
  EXPECT_NE(job.err.find("has lost rank 1 "), std::string::npos) << job.err;
  EXPECT_NE(job.err.find("its process has been stopped (state T) for "), std::string::npos)
      << job.err;
  EXPECT_NE(job.err.find(", during barrier"), std::string::npos) << job.err;
}

TEST_F(Mpirun, HostsAreNamedAsTheyCallThemselves) {
  const std::string renamed = "hostname second && exec \"$0\"";
  if (run_program({"unshare", "--uts", "sh", "-c", renamed, "true"}).exit_code != 0) {
    GTEST_SKIP() << "giving a process another host name needs root";
  }
  const Finished job = run({"-n", "1", program("hello"), ":", "-n", "1", "env", "STRIPLINE_SEED=x",
                            "unshare", "--uts", "sh", "-c", renamed, program("hello")});
  EXPECT_EQ(job.exit_code, kExitUsage) << job.err;
  EXPECT_NE(job.err.find("error: rank 1 on second: STRIPLINE_SEED"), std::string::npos) << job.err;
}

TEST_F(Mpirun, RanksAndSettingsAreShownOnce) {
  const Finished job = run(
      {"-n", "1", program("hello"), ":", "-n", "1", "env", "STRIPLINE_SEED=4", program("hello")},
      {{"STRIPLINE_VERBOSE", "1"}});
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  EXPECT_EQ(lines_with(job.err, "2 ranks on 1 node, real clock"), 1U) << job.err;
  EXPECT_EQ(lines_with(job.err, "tcp;ofi_rxm"), 2U) << job.err;
  EXPECT_EQ(lines_with(job.err, "rank 1: STRIPLINE_SEED is 4 (environment)"), 1U) << job.err;
}

TEST_F(Mpirun, LauncherOfStriplineWorksInsideItsRanks) {
  const Finished job =
      run({"-n", "1", program("stripline-run"), "-n", "2", "--", program("hello")});
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  EXPECT_EQ(lines_with(job.out, "of 2, greeted by"), 2U) << job.out;
}

TEST_F(Mpirun, RanksEndWithTheirLauncher) {
  const TempFolder folder;
  // A name of its own, so that only this test's ranks are looked for.
  const std::string copy = (folder / "hello").string();
  std::filesystem::copy_file(program("hello"), copy);
  for (const int number : {SIGTERM, SIGKILL}) {
    Program job(folder, "mpirun", mpirun({"-n", "2", copy, "--wait"}),
                {{"STRIPLINE_SEGMENT_BYTES", "1M"}});
    ASSERT_TRUE(eventually([&] { return lines_with(job.out(), "greeted by") == 2; }, 20))
        << job.err();
    EXPECT_EQ(processes_of(copy).size(), 2U);
    ::kill(job.process().pid(), number);
    EXPECT_TRUE(eventually([&] { return processes_of(copy).empty(); }, 10)) << "signal " << number;
    for (const pid_t left : processes_of(copy)) ::kill(left, SIGKILL);
    (void)job.finish(10);
  }
}

}  // namespace
}  // namespace stripline::e2e
