// The same programs as under `stripline run`, started by Debian's Open MPI.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
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
  if (!std::filesystem::exists(program("beside_mpi"))) {
    GTEST_SKIP() << "built without MPI (Debian: apt-get install libopenmpi-dev)";
  }
  for (const char* first : {"mpi", "stripline"}) {
    for (const char* last : {"mpi", "stripline"}) {
      // Open MPI leaks, from plugins that are unloaded when leaks are looked for.
      const Finished job = run({"-n", "2", program("beside_mpi"), first, last},
                               {{"ASAN_OPTIONS", "detect_leaks=0"}});
      EXPECT_EQ(job.exit_code, kExitOk) << first << " first, " << last << " last: " << job.err;
      EXPECT_EQ(lines_with(job.out, "both work"), 2U) << job.out;
    }
  }
}

TEST_F(Mpirun, KilledRankEndsTheJob) {
  const double start = steady_seconds();
  const Finished job = run({"-n", "3", program("hello"), "--kill", "1"});
  EXPECT_LT(steady_seconds() - start, 10);
  EXPECT_GT(job.exit_code, 0);
  EXPECT_NE(job.err.find("process rank 1 "), std::string::npos) << job.err;
  EXPECT_NE(job.err.find("signal 9"), std::string::npos) << job.err;
}

TEST_F(Mpirun, RankThatExitsInMidJobEndsIt) {
  const double start = steady_seconds();
  EXPECT_EQ(run({"-n", "2", program("hello"), "--exit", "0", "3"}).exit_code, 3);
  EXPECT_GT(run({"-n", "2", program("hello"), "--exit", "1", "0"}).exit_code, 0);
  EXPECT_LT(steady_seconds() - start, 20);
}

TEST_F(Mpirun, LostPeerIsNamedWithHostAndOperation) {
  const Finished job =
      run({"-n", "3", program("hello"), "--wait"},
          {{"STRIPLINE_FABRIC", "emulated:opteron-vapi,compute=none,lose=1@0.00002"},
           {"STRIPLINE_CLOCK", "virtual"}});
  EXPECT_EQ(job.exit_code, kExitRankDied) << job.err;
  EXPECT_NE(job.err.find("lost contact with rank 1"), std::string::npos) << job.err;
  EXPECT_NE(job.err.find(" on "), std::string::npos) << job.err;
  EXPECT_NE(job.err.find(", during "), std::string::npos) << job.err;
}

TEST_F(Mpirun, ExitCodeOfAnErrorIsPassedOn) {
  const Finished wrong = run({"-n", "2", program("hello")}, {{"STRIPLINE_SEED", "x"}});
  EXPECT_EQ(wrong.exit_code, kExitUsage) << wrong.err;
  EXPECT_NE(wrong.err.find("STRIPLINE_SEED='x' is not"), std::string::npos) << wrong.err;
  const Finished returned = run({"-n", "2", program("hello"), "--return", "8"});
  EXPECT_EQ(returned.exit_code, 8) << returned.err;
}

TEST_F(Mpirun, RankThatNeverJoinsEndsInATimeout) {
  const Finished job = run({"-n", "2", program("hello"), "--sleep-before-join", "1"},
                           {{"STRIPLINE_JOIN_TIMEOUT", "2"}});
  EXPECT_EQ(job.exit_code, kExitTimeout) << job.err;
  EXPECT_NE(job.err.find("error: rank 0 on "), std::string::npos) << job.err;
  EXPECT_NE(job.err.find("some of the 2 ranks have not joined the job within 2 s"),
            std::string::npos)
      << job.err;
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
