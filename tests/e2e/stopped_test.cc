// A rank that does not answer: one whose process is stopped ends the job, whatever the others wait
// in and however ranks reach each other; one that computes does not. Where the ranks are is said.
#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

using Words = std::vector<std::string>;

/// What a job of two ranks ends in, with a timeout of a second for peers; `kind` and what
/// follows are the arguments of tests/programs/waits.
Finished run_job(const Words& options, const Words& arguments, const std::string& stall = "0") {
  Words argv = {program("stripline-run"), "-n", "2", "--segment", "1M"};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.insert(argv.end(), {"--", program("waits")});
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_program(argv, 60,
                     {{"STRIPLINE_PEER_TIMEOUT", "1"}, {"STRIPLINE_STALL_NOTICE", stall}});
}

void expect_stopped_rank_is_named(const Finished& job, const std::string& waits_in) {
  EXPECT_EQ(job.exit_code, kExitRankDied) << job.err;
  EXPECT_NE(job.err.find("rank 1: stopped (state T, process "), std::string::npos) << job.err;
  EXPECT_NE(job.err.find("waiting for "), std::string::npos) << job.err;
  EXPECT_NE(job.err.find(" in " + waits_in), std::string::npos) << job.err;
}

class StoppedOnPath : public ::testing::TestWithParam<Words> {};

TEST_P(StoppedOnPath, EndsTheJob) {
  expect_stopped_rank_is_named(run_job(GetParam(), {"barrier"}), "barrier (waits.cc:");
}

INSTANTIATE_TEST_SUITE_P(Paths, StoppedOnPath,
                         ::testing::Values(Words{"--fabric", "tcp", "--same-node", "mapped"},
                                           Words{"--fabric", "tcp", "--same-node", "cma"},
                                           Words{"--fabric", "tcp", "--same-node", "network"},
                                           Words{"--fabric", "shm", "--same-node", "network"},
                                           // So slow that a busy host, too, can imitate it.
                                           Words{"--fabric", "emulated:itanium-gm", "--clock",
                                                 "real"},
                                           Words{"--fabric", "emulated:opteron-vapi,compute=none",
                                                 "--clock", "virtual"}),
                         [](const auto& test) {
                           const std::string& fabric = test.param[1];
                           return fabric.substr(0, fabric.find(':')) + "_" + test.param[3];
                         });

struct Wait {
  std::string kind;
  std::string named;
  std::string after = "";
};

class StoppedInWait : public ::testing::TestWithParam<Wait> {};

TEST_P(StoppedInWait, EndsTheJob) {
  const Words network = {"--fabric", "tcp", "--same-node", "network"};
  const Finished job = run_job(network, {GetParam().kind});
  expect_stopped_rank_is_named(job, GetParam().named);
  EXPECT_NE(job.err.find(GetParam().after), std::string::npos) << job.err;
}

INSTANTIATE_TEST_SUITE_P(
    Waits, StoppedInWait,
    ::testing::Values(
        Wait{"all_to_all", "all_to_all (waits.cc:"}, Wait{"signal", "wait_signal (waits.cc:"},
        Wait{"message", "wait_until (waits.cc:"}, Wait{"lock", "lock of a global_lock"},
        Wait{"get", "wait (waits.cc:", "), after rget of 8192 bytes with rank 1"},
        Wait{"flood", "am_send of 512 bytes with rank 1"},
        Wait{"updates", "UpdateEpoch::update (waits.cc:"},
        Wait{"single_updates", "UpdateEpoch::flush (waits.cc:"},
        Wait{"locked_updates", "UpdateEpoch::update (waits.cc:"},
        Wait{"flush", "UpdateEpoch::flush (waits.cc:"},
        Wait{"gather_plan", "all_to_all (waits.cc:"}, Wait{"gather", "wait_signal (waits.cc:"},
        Wait{"atomic", "wait (waits.cc:", "), after atomic operation of 8 bytes with rank 1"}),
    [](const auto& test) { return test.param.kind; });

// The peer timeout is far shorter than the computation.
TEST(Silent, ARankThatComputesIsWaitedFor) {
  const Words cases[] = {{"mapped", "allreduce"}, {"network", "get"}};
  for (const Words& one : cases) {
    const Finished job =
        run_job({"--fabric", "tcp", "--same-node", one[0]}, {one[1], "compute", "2.5"});
    EXPECT_EQ(job.exit_code, kExitOk) << one[0] << ": " << job.err;
    EXPECT_EQ(job.err, "");
  }
}

TEST(Stalled, AJobInWhichNobodyGetsOnIsToldWhereItsRanksAreOnce) {
  const TempFolder folder;
  Program job(
      folder, "job",
      {program("stripline-run"), "-n", "3", "--segment", "1M", "--timeout", "4", "--", "sh", "-c",
       "[ $STRIPLINE_RANK = 1 ] && exec " + program("hello") + " --wait; exec " + program("hello") +
           " --barrier"},
      {{"STRIPLINE_STALL_NOTICE", "0.5"}});
  const Finished ended = job.finish(60);
  EXPECT_EQ(ended.exit_code, kExitTimeout) << ended.err;
  EXPECT_EQ(lines_with(ended.err, "no rank has made progress for 0.5 s; the job goes on"), 1U)
      << ended.err;
  EXPECT_EQ(lines_with(ended.err, "ranks 0, 2: waiting for "), 2U) << ended.err;
  EXPECT_EQ(lines_with(ended.err, " in barrier (hello.cc:"), 2U) << ended.err;
  EXPECT_EQ(lines_with(ended.err, "rank 1: waiting for "), 2U) << ended.err;
  EXPECT_NE(ended.err.find("Where the ranks were:"), std::string::npos) << ended.err;
}

// It may be right: a person may be asked. So the job goes on.
TEST(Stalled, ARankThatSleepsOutsideOfCallsIsShown) {
  const Finished job = run_job({"--timeout", "3"}, {"barrier", "pause"}, "0.5");
  EXPECT_EQ(job.exit_code, kExitTimeout) << job.err;
  EXPECT_EQ(lines_with(job.err, "no rank has made progress for 0.5 s"), 1U) << job.err;
  EXPECT_EQ(lines_with(job.err, "rank 1: sleeping for "), 2U) << job.err;
  EXPECT_NE(job.err.find(", last call barrier (waits.cc:"), std::string::npos) << job.err;
}

TEST(Cancelled, AJobSaysWhereItsRanksWere) {
  const TempFolder folder;
  Program job(folder, "job",
              {program("stripline-run"), "-n", "2", "--segment", "1M", "--", program("waits"),
               "barrier", "pause"});
  ASSERT_TRUE(eventually(
      [&] {
        const auto ranks = children_of(job.process().pid());
        return ranks.size() == 2;
      },
      20));
  job.process().signal(SIGINT);
  const Finished ended = job.finish(30);
  EXPECT_EQ(ended.exit_code, kExitCancelled) << ended.err;
  EXPECT_NE(ended.err.find("Where the ranks were:\n  rank"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace stripline::e2e
