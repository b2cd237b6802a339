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
#include "tests/e2e/launched_jobs.h"
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
  if (!has_mpi_program()) {
    GTEST_SKIP() << "built without MPI (Debian: apt-get install libopenmpi-dev)";
  }
  expect_mpi_works_besides(run, "mpi", "stripline");
}

TEST_F(Slurm, KilledRankEndsTheJob) { expect_killed_rank_ends_the_job(run, "task 1: Killed"); }

TEST_F(Slurm, RankThatExitsInMidJobEndsIt) { (void)expect_rank_that_exits_ends_the_job(run); }

TEST_F(Slurm, LostPeerIsNamedWithHostAndOperation) { expect_lost_peer_is_named(run); }

TEST_F(Slurm, ExitCodeOfAnErrorIsPassedOn) { expect_exit_code_is_passed_on(run); }

TEST_F(Slurm, RankThatNeverJoinsEndsInATimeout) { expect_rank_that_never_joins_ends_the_job(run); }

TEST_F(Slurm, TasksWithoutPmixAreToldThatTheyAreAlone) {
  const Finished tasks = cluster_->srun({"--mpi=none", "-n", "2", program("hello")});
  EXPECT_EQ(tasks.exit_code, kExitOk) << tasks.err;
  EXPECT_EQ(lines_with(tasks.out, "of 1, greeted by"), 2U) << tasks.out;
  EXPECT_EQ(lines_with(tasks.err, "warning: srun has started 2 tasks without PMIx"), 1U)
      << tasks.err;
  EXPECT_EQ(cluster_->srun({"--mpi=none", "-n", "1", program("hello")}).err, "");
}

// The line of docs/launching.md on one node: its ranks are of one job, and say what they miss.
TEST_F(Slurm, SwitchesAreNotLookedForOnOneNode) {
  const Finished job = run({"--ntasks-per-node=2", program("stripline-switches")});
  EXPECT_EQ(job.exit_code, kExitUsage) << job.err;
  EXPECT_EQ(lines_with(job.err, "all ranks are on one node"), 1U) << job.err;
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
