// The same programs as under `stripline run`, started by a real Slurm of one node.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <signal.h>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "tests/e2e/slurm_cluster.h"

namespace stripline::e2e {
namespace {

class Slurm : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (SlurmCluster::missing().empty()) cluster_ = std::make_unique<SlurmCluster>();
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  void SetUp() override {
    if (!cluster_) GTEST_SKIP() << SlurmCluster::missing();
    ASSERT_EQ(cluster_->failure(), "");
  }

  void TearDown() override {
    if (HasFailure() && cluster_) std::cerr << cluster_->log();
  }

  /// A step whose tasks are ranks of one job.
  static Finished run(const std::vector<std::string>& arguments,
                      const std::map<std::string, std::string>& environment = {}) {
    std::vector<std::string> all = {"--mpi=pmix"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return cluster_->srun(all, environment);
  }

  static std::unique_ptr<SlurmCluster> cluster_;
};

std::unique_ptr<SlurmCluster> Slurm::cluster_;

TEST_F(Slurm, EveryRankGreets) {
  for (const char* fabric : {"tcp", "shm"}) {
    const Finished job = run({"-n", "3", program("hello")}, {{"STRIPLINE_FABRIC", fabric}});
    EXPECT_EQ(job.exit_code, kExitOk) << job.err;
    EXPECT_EQ(lines_with(job.out, "of 3, greeted by"), 3U) << job.out;
    EXPECT_EQ(job.err.find("error"), std::string::npos) << job.err;
  }
}

TEST_F(Slurm, RanksAndSettingsAreShown) {
  const Finished job = run({"-n", "2", program("hello")}, {{"STRIPLINE_VERBOSE", "1"}});
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  EXPECT_EQ(lines_with(job.err, "2 ranks on 1 node, real clock"), 1U) << job.err;
}

TEST_F(Slurm, ProgramsUseMpiBesides) {
  if (!std::filesystem::exists(program("beside_mpi"))) {
    GTEST_SKIP() << "built without MPI (Debian: apt-get install libopenmpi-dev)";
  }
  // Open MPI leaks, from plugins that are unloaded when leaks are looked for.
  const Finished job = run({"-n", "2", program("beside_mpi"), "mpi", "stripline"},
                           {{"ASAN_OPTIONS", "detect_leaks=0"}});
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  EXPECT_EQ(lines_with(job.out, "both work"), 2U) << job.out;
}

TEST_F(Slurm, KilledRankEndsTheJob) {
  const double start = steady_seconds();
  const Finished job = run({"-n", "3", program("hello"), "--kill", "1"});
  EXPECT_LT(steady_seconds() - start, 10);
  EXPECT_GT(job.exit_code, 0);
  EXPECT_NE(job.err.find("task 1: Killed"), std::string::npos) << job.err;
}

TEST_F(Slurm, RankThatExitsInMidJobEndsIt) {
  const double start = steady_seconds();
  EXPECT_GT(run({"-n", "2", program("hello"), "--exit", "0", "3"}).exit_code, 0);
  EXPECT_GT(run({"-n", "2", program("hello"), "--exit", "1", "0"}).exit_code, 0);
  EXPECT_LT(steady_seconds() - start, 20);
}

TEST_F(Slurm, LostPeerIsNamedWithHostAndOperation) {
  const Finished job =
      run({"-n", "3", program("hello"), "--wait"},
          {{"STRIPLINE_FABRIC", "emulated:opteron-vapi,compute=none,lose=1@0.00002"},
           {"STRIPLINE_CLOCK", "virtual"}});
  EXPECT_EQ(job.exit_code, kExitRankDied) << job.err;
  EXPECT_NE(job.err.find("lost contact with rank 1"), std::string::npos) << job.err;
  EXPECT_NE(job.err.find(", during "), std::string::npos) << job.err;
}

TEST_F(Slurm, ExitCodeOfAnErrorIsPassedOn) {
  const Finished wrong = run({"-n", "2", program("hello")}, {{"STRIPLINE_SEED", "x"}});
  EXPECT_EQ(wrong.exit_code, kExitUsage) << wrong.err;
  EXPECT_NE(wrong.err.find("STRIPLINE_SEED='x' is not"), std::string::npos) << wrong.err;
  const Finished returned = run({"-n", "2", program("hello"), "--return", "8"});
  EXPECT_EQ(returned.exit_code, 8) << returned.err;
}

TEST_F(Slurm, RankThatNeverJoinsEndsInATimeout) {
  const Finished job = run({"-n", "2", program("hello"), "--sleep-before-join", "1"},
                           {{"STRIPLINE_JOIN_TIMEOUT", "2"}});
  EXPECT_EQ(job.exit_code, kExitTimeout) << job.err;
  EXPECT_NE(job.err.find("some of the 2 ranks have not joined the job within 2 s"),
            std::string::npos)
      << job.err;
}

TEST_F(Slurm, TasksWithoutPmixAreToldThatTheyAreAlone) {
  const Finished tasks = cluster_->srun({"--mpi=none", "-n", "2", program("hello")});
  EXPECT_EQ(tasks.exit_code, kExitOk) << tasks.err;
  EXPECT_EQ(lines_with(tasks.out, "of 1, greeted by"), 2U) << tasks.out;
  EXPECT_EQ(lines_with(tasks.err, "warning: srun has started 2 tasks without PMIx"), 1U)
      << tasks.err;
  EXPECT_EQ(cluster_->srun({"--mpi=none", "-n", "1", program("hello")}).err, "");
}

TEST_F(Slurm, RanksEndWithTheirStepDaemon) {
  const TempFolder folder;
  const std::string copy = (folder / "hello").string();
  std::filesystem::copy_file(program("hello"), copy);
  Program job = cluster_->start_srun(folder, {"--mpi=pmix", "-n", "2", copy, "--wait"});
  ASSERT_TRUE(eventually([&] { return lines_with(job.out(), "greeted by") == 2; }, 20))
      << job.err();
  const auto ranks = processes_of(copy);
  ASSERT_EQ(ranks.size(), 2U);
  std::ifstream status("/proc/" + std::to_string(ranks[0]) + "/stat");
  std::string text;
  std::getline(status, text);
  const pid_t daemon = std::stoi(text.substr(text.rfind(')') + 4));  // the parent, after the state
  ASSERT_GT(daemon, 1);
  ::kill(daemon, SIGKILL);
  EXPECT_TRUE(eventually([&] { return processes_of(copy).empty(); }, 10));
  for (const pid_t left : processes_of(copy)) ::kill(left, SIGKILL);
  job.process().signal(SIGKILL);
  (void)job.finish(10);
}

}  // namespace
}  // namespace stripline::e2e
