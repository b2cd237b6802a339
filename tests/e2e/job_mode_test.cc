// Agents in a job of Slurm: they measure, and leave nothing behind.

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "tests/e2e/slurm_cluster.h"

namespace stripline::e2e {
namespace {

TEST(JobMode, AgentsMeasureAndEndWithoutWork) {
  if (!SlurmCluster::missing().empty()) GTEST_SKIP() << SlurmCluster::missing();
  const SlurmCluster cluster;
  ASSERT_EQ(cluster.failure(), "");
  const TempFolder folder;
  const ServerProcess server(folder, {});
  ASSERT_NE(server.address(), "");
  const auto start_agent = [&](const TempFolder& output, const std::string& node) {
    return cluster.start_srun(output, {"--mpi=none", "-n", "1", "--cpu-bind=none", "--time=10",
                                       program("stripline-agent"), "--job", "--job-idle", "4",
                                       "--server", server.address(), "--node", node});
  };
  const TempFolder output_a;
  const TempFolder output_b;
  Program a = start_agent(output_a, "a");
  Program b = start_agent(output_b, "b");
  ASSERT_TRUE(nodes_become_idle(server.address(), {"a", "b"}, 30)) << a.err() << b.err();
  const Finished campaign =
      cli(server.address(), {"campaign", "run", "--fabric", "emulated:opteron-vapi", "--runs", "1",
                             "--experiment", "micro.latency", "--time-budget", "60"});
  EXPECT_NE(campaign.out.find("run 1 of 1"), std::string::npos) << campaign.out << campaign.err;
  for (Program* agent : {&a, &b}) {
    const Finished ended = agent->finish(60);
    EXPECT_EQ(ended.exit_code, kExitOk) << ended.err << cluster.log();
    EXPECT_NE(ended.err.find("finished campaigns/c1/runs/1"), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("there is no work"), std::string::npos) << ended.err;
  }
  // The job's end is near: nothing is taken any more.
  const Finished late =
      cluster.srun({"--mpi=none", "-n", "1", program("stripline-agent"), "--job", "--server",
                    server.address(), "--node", "late", "--job-end", "1000"});
  EXPECT_EQ(late.exit_code, kExitOk) << late.err;
  EXPECT_EQ(late.err.find("no work"), std::string::npos) << late.err;
}

}  // namespace
}  // namespace stripline::e2e
