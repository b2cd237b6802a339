// What happens when something dies, hangs, is stopped, or was asked for wrongly.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <signal.h>
#include <sstream>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

class FailuresTest : public ::testing::Test {
 protected:
  void start(ServerSetup setup = {}) {
    server_.emplace(folder_, std::move(setup));
    ASSERT_FALSE(server_->address().empty()) << server_->log();
    a_.emplace(folder_, server_->address(), "a");
    b_.emplace(folder_, server_->address(), "b");
    ASSERT_TRUE(nodes_become_idle(server_->address(), {"a", "b"}, 20)) << a_->log();
  }

  // A campaign long enough to be disturbed, and short enough for slow machines and sanitizers: what
  // the operations of the network cost. Its computation is declared, so that the model is judged as
  // well where a sanitizer makes computing slow. Watched by a command that runs beside the test.
  void start_campaign(const std::string& runs = "6") {
    watching_.emplace(folder_, "watching",
                      std::vector<std::string>{program("stripline"),
                                               "--server",
                                               server_->address(),
                                               "campaign",
                                               "run",
                                               "--fabric",
                                               "emulated:opteron-vapi,compute=declared",
                                               "--runs",
                                               runs,
                                               "--time-budget",
                                               "150",
                                               "--model",
                                               "opteron",
                                               "--experiment",
                                               "micro.latency",
                                               "--experiment",
                                               "micro.issue",
                                               "--experiment",
                                               "micro.flood",
                                               "--experiment",
                                               "micro.overlap"});
  }

  Json campaign() const {
    const std::vector<Json> shown = cli_json(server_->address(), {"campaign", "show", "c1"});
    return shown.empty() ? Json{{"state", ""}} : shown[0];
  }

  // Once samples of the given run have arrived, so that workers are certainly measuring.
  bool wait_for_measuring(unsigned runs_done = 0) {
    return eventually(
        [&] {
          const Json now = campaign();
          return now["state"] == "RUNNING" && now.value("samples", "0") != "0" &&
                 now.value("runs_done", 0U) >= runs_done && !a_->workers().empty() &&
                 !b_->workers().empty();
        },
        60);
  }

  std::string logs() const { return server_->log() + "\na: " + a_->log() + "\nb: " + b_->log(); }

  TempFolder folder_;
  std::optional<ServerProcess> server_;
  std::optional<AgentProcess> a_;
  std::optional<AgentProcess> b_;
  std::optional<Program> watching_;
};

// A variable in the environment of a process.
std::string variable_of(pid_t pid, const std::string& name) {
  std::istringstream variables(read_file("/proc/" + std::to_string(pid) + "/environ"));
  for (std::string entry; std::getline(variables, entry, '\0');) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return "";
}

// Each stored series without what tells attempts apart.
std::multiset<std::string> stored_series(const std::string& server) {
  std::multiset<std::string> found;
  for (Json one : cli_json(server, {"campaign", "export", "c1"})) {
    one.erase("orphan");
    found.insert(one.dump());
  }
  return found;
}

TEST_F(FailuresTest, ServerKilledAndRestartedLosesNothing) {
  start();
  start_campaign();
  ASSERT_TRUE(wait_for_measuring(1)) << logs();
  const std::multiset<std::string> before = stored_series(server_->address());
  ASSERT_FALSE(before.empty());
  server_->kill();
  server_->restart();
  ASSERT_FALSE(server_->address().empty()) << server_->log();

  const Finished watched = watching_->finish(150);
  EXPECT_EQ(watched.exit_code, kExitOk) << watched.err << logs();
  EXPECT_NE(watched.err.find("the server is back"), std::string::npos) << watched.err;
  EXPECT_NE(watched.out.find("stripline model fetch"), std::string::npos) << watched.out;
  const std::multiset<std::string> after = stored_series(server_->address());
  EXPECT_TRUE(std::includes(after.begin(), after.end(), before.begin(), before.end()))
      << "a stored series is missing";
  // The run that was being measured went on.
  for (const Json& one : cli_json(server_->address(), {"campaign", "export", "c1"})) {
    EXPECT_EQ(one.at("fence"), 1) << one.at("assignment");
  }
}

TEST_F(FailuresTest, AgentKilledMidMeasurementIsReplaced) {
  start();
  start_campaign();
  ASSERT_TRUE(wait_for_measuring()) << logs();
  const std::vector<pid_t> workers = b_->workers();
  b_->kill();
  EXPECT_TRUE(eventually(
      [&] {
        return std::all_of(workers.begin(), workers.end(),
                           [](pid_t worker) { return ::kill(worker, 0) != 0; });
      },
      10))
      << "a worker outlived its agent";
  b_.emplace(folder_, server_->address(), "b");
  const Finished watched = watching_->finish(150);
  EXPECT_EQ(watched.exit_code, kExitOk) << watched.err << logs();
}

TEST_F(FailuresTest, KilledRankIsNamedAndTheRunIsMeasuredAgain) {
  start();
  start_campaign();
  ASSERT_TRUE(wait_for_measuring()) << logs();
  ASSERT_EQ(::kill(b_->workers().front(), SIGKILL), 0);
  const Finished watched = watching_->finish(150);
  EXPECT_EQ(watched.exit_code, kExitOk) << watched.err << logs();
  EXPECT_NE(watched.out.find("killed by signal 9 (SIGKILL)"), std::string::npos) << watched.out;
}

// What a stopped rank measures is not to blame.
TEST_F(FailuresTest, StoppedRankIsNamedAndTheRunIsMeasuredAgain) {
  start();
  start_campaign();
  ASSERT_TRUE(wait_for_measuring()) << logs();
  ASSERT_EQ(::kill(b_->workers().front(), SIGSTOP), 0);
  const Finished watched = watching_->finish(150);
  EXPECT_EQ(watched.exit_code, kExitOk) << watched.err << logs();
  EXPECT_NE(watched.out.find("rank 1 on nodes/b did not go on for 1"), std::string::npos)
      << watched.out;
  EXPECT_NE(watched.out.find("; it is measured again"), std::string::npos) << watched.out;
  EXPECT_EQ(watched.out.find("left out"), std::string::npos) << watched.out;
}

// micro.issue hangs at the first attempt, and its rank dies at the second one.
TEST_F(FailuresTest, AnExperimentThatHangsIsGivenUpThenLeftOutAndNamed) {
  server_.emplace(folder_, ServerSetup());
  ASSERT_FALSE(server_->address().empty()) << server_->log();
  // Both ranks are on it, so that what it says of their points is what is said.
  const std::map<std::string, std::string> environment = {
      {"STRIPLINE_AGENT_WORKER", program("hanging_worker")},
      {"HANGING_WORKER_EXPERIMENT", "micro.issue"},
      {"HANGING_WORKER_MARK", (folder_ / "mark").string()}};
  b_.emplace(folder_, server_->address(), "b", std::vector<std::string>(), environment);
  ASSERT_TRUE(nodes_become_idle(server_->address(), {"b"}, 20)) << b_->log();
  const Finished watched =
      cli(server_->address(),
          {"campaign", "run", "--fabric", "emulated:opteron-vapi", "--nodes", "1", "--runs", "2",
           "--experiment", "micro.latency", "--experiment", "micro.issue", "--time-budget", "250"},
          200);
  ASSERT_EQ(watched.exit_code, kExitOk) << watched.out << watched.err << b_->log();
  // In this order.
  size_t at = 0;
  for (const std::string said :
       {"run 1: micro.issue/", " has taken ", " on nodes/b; it is given up after ",
        " was lost: micro.issue/", " on nodes/b, and is given up", "; it is measured again",
        " was lost: rank 1 on nodes/b was killed by signal 9 (SIGKILL) while it measured "
        "micro.issue/",
        "; micro.issue is left out from now on, and the others are measured",
        "2 of 2 runs measured; without micro.issue, which was left out after rank 1 on nodes/b "
        "was killed"}) {
    at = watched.out.find(said, at);
    ASSERT_NE(at, std::string::npos) << said << "\n" << watched.out;
  }
  size_t measured = 0;
  for (const Json& one : cli_json(server_->address(), {"campaign", "export", "c1"})) {
    if (one.at("orphan") == true) continue;
    const bool left_out = one.at("point").at("experiment") == "micro.issue";
    EXPECT_TRUE(!left_out || one.at("values").empty()) << one;
    measured += one.at("values").empty() ? 0 : 1;
  }
  EXPECT_GT(measured, 0U);
}

TEST_F(FailuresTest, ARankThatKeepsDyingFailsTheCampaign) {
  ServerSetup setup;
  setup.options.insert(setup.options.end(), {"--max-failures", "1"});
  start(setup);
  start_campaign();
  ASSERT_TRUE(wait_for_measuring()) << logs();
  const std::string job = variable_of(b_->workers().front(), "STRIPLINE_JOB_ID");
  ASSERT_FALSE(job.empty());
  // As if the rank had been killed before the ranks had all mapped it and removed its name.
  std::ofstream("/dev/shm/stripline-" + job) << "left behind";
  ASSERT_EQ(::kill(b_->workers().front(), SIGKILL), 0);
  const Finished watched = watching_->finish(60);
  EXPECT_EQ(watched.exit_code, kExitFailure) << watched.err << logs();
  EXPECT_NE(watched.err.find("rank 1 on nodes/b was killed by signal 9 (SIGKILL)"),
            std::string::npos)
      << watched.err;
  EXPECT_TRUE(nodes_become_idle(server_->address(), {"a", "b"}, 10)) << logs();
  EXPECT_TRUE(a_->workers().empty());
  EXPECT_FALSE(std::filesystem::exists("/dev/shm/stripline-" + job)) << "the job's memory is left";
}

TEST_F(FailuresTest, AProfileThatTheHostsCannotReproduceFailsTheCampaignAtOnce) {
  start();
  // 23 GB/s in real time would need a copy of ten times that.
  const Finished refused =
      run_program({program("stripline"), "--server", server_->address(), "campaign", "run",
                   "--fabric", "emulated:modern-rdma", "--clock", "real"});
  EXPECT_EQ(refused.exit_code, kExitFailure) << refused.out << refused.err;
  EXPECT_NE(refused.err.find("cannot reproduce in real time"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--clock virtual"), std::string::npos) << refused.err;
  EXPECT_EQ(campaign()["state"], "FAILED");
  EXPECT_EQ(campaign().value("runs_done", 0U), 0U);
  EXPECT_TRUE(nodes_become_idle(server_->address(), {"a", "b"}, 10)) << logs();
}

TEST_F(FailuresTest, CancelFreesTheNodesAndKeepsTheSamples) {
  start();
  start_campaign("100");
  ASSERT_TRUE(wait_for_measuring()) << logs();
  const Finished cancelled = cli(server_->address(), {"campaign", "cancel", "c1"});
  EXPECT_EQ(cancelled.exit_code, kExitOk) << cancelled.err;
  EXPECT_EQ(watching_->finish(30).exit_code, kExitCancelled);
  EXPECT_TRUE(nodes_become_idle(server_->address(), {"a", "b"}, 10)) << logs();
  EXPECT_TRUE(eventually([&] { return a_->workers().empty() && b_->workers().empty(); }, 5));
  EXPECT_EQ(campaign()["state"], "CANCELLED");
  EXPECT_FALSE(stored_series(server_->address()).empty());
}

TEST_F(FailuresTest, InterruptingTheWatchLeavesTheCampaign) {
  start();
  start_campaign("100");
  ASSERT_TRUE(wait_for_measuring()) << logs();
  watching_->process().signal(SIGINT);
  const Finished watched = watching_->finish(20);
  EXPECT_EQ(watched.exit_code, kExitCancelled);
  EXPECT_NE(watched.err.find("stripline campaign watch c1"), std::string::npos) << watched.err;
  EXPECT_EQ(campaign()["state"], "RUNNING");
  EXPECT_EQ(cli(server_->address(), {"campaign", "cancel", "c1"}).exit_code, kExitOk);
}

TEST_F(FailuresTest, WrongRequestsAreRefusedWithWhatToDo) {
  start();
  const struct {
    std::vector<std::string> arguments;
    int exit_code;
    const char* text;
  } cases[] = {
      {{"campaign", "run", "--fabric", "warp"}, kExitUsage, "warp"},
      {{"campaign", "run", "--fabric", "tcp", "--experiment", "micro.latncy"},
       kExitUsage,
       "micro.latncy"},
      {{"campaign", "run", "--fabric", "tcp", "--nodes", "5", "--ranks", "5"},
       kExitUnavailable,
       "stripline-agent"},
      {{"campaign", "run", "--fabric", "tcp", "--experiment", "kernel.nas_bt", "--ranks", "2",
        "--validate-only"},
       kExitUsage,
       "takes a square as its number of ranks, not 2"},
      {{"campaign", "run", "--fabric", "emulated:opteron-vapi", "--experiment", "micro.node_flood"},
       kExitUsage,
       "stands between all ranks"},
      {{"campaign", "run", "--fabric", "tcp", "--ranks", "1", "--validate-only"},
       kExitUsage,
       "one rank has no network to measure"},
      {{"model", "withdraw", "nothing"}, kExitUsage, "NAME@VERSION"},
      {{"model", "withdraw", "nothing@1"}, kExitUsage, "model list"},
      {{"campaign", "show", "c77"}, kExitUsage, "campaign list"},
      {{"campaign", "watch", "c77"}, kExitUsage, "campaign list"},
      {{"model", "fetch", "nothing"}, kExitUsage, "model list"}};
  for (const auto& expected : cases) {
    const Finished finished = cli(server_->address(), expected.arguments);
    EXPECT_EQ(finished.exit_code, expected.exit_code) << finished.err;
    EXPECT_NE(finished.err.find(expected.text), std::string::npos) << finished.err;
  }
}

TEST_F(FailuresTest, ASecondServerIsRefused) {
  start();
  const std::string data = (folder_ / "data").string();
  const std::string other = (folder_ / "other").string();
  const Finished same_port = run_program(
      {program("stripline-server"), "--dev", "--listen", server_->address(), "--data-dir", other},
      20);
  EXPECT_EQ(same_port.exit_code, kExitConflict) << same_port.err;
  const Finished same_data = run_program(
      {program("stripline-server"), "--dev", "--listen", "127.0.0.1:0", "--data-dir", data}, 20);
  EXPECT_EQ(same_data.exit_code, kExitConflict) << same_data.err;
}

TEST_F(FailuresTest, ASecondAgentOfTheSameNameWaitsForTheName) {
  start();
  Program second(folder_, "second",
                 {program("stripline-agent"), "--server", server_->address(), "--node", "a"});
  EXPECT_TRUE(eventually(
      [&] { return second.err().find("choose another --node") != std::string::npos; }, 20))
      << second.err();
  EXPECT_EQ(second.err().find("cannot reach"), std::string::npos) << second.err();
  EXPECT_TRUE(nodes_become_idle(server_->address(), {"a", "b"}, 10));
}

TEST(BadInput, UnreachableServer) {
  const Finished finished = cli("127.0.0.1:1", {"campaign", "run", "--fabric", "tcp"});
  EXPECT_EQ(finished.exit_code, kExitUnavailable);
  EXPECT_NE(finished.err.find("stripline-server --dev"), std::string::npos) << finished.err;
}

TEST(BadInput, OutputThatCannotBeWritten) {
  const std::string command = program("stripline") + " version > /dev/full";
  const Finished finished = run_program({"/bin/sh", "-c", command});
  EXPECT_EQ(finished.exit_code, kExitUnavailable);
  EXPECT_NE(finished.err.find("cannot write to standard output"), std::string::npos)
      << finished.err;
}

TEST(BadInput, MalformedModelFile) {
  const TempFolder folder;
  const std::string file = (folder / "broken.stripline.json").string();
  std::ofstream(file) << "{\"schema_version\": 1, \"name\": \"x\"";
  const Finished shown = cli("127.0.0.1:1", {"model", "show", file});
  EXPECT_EQ(shown.exit_code, kExitBadInput) << shown.err;
  EXPECT_NE(shown.err.find("broken.stripline.json"), std::string::npos) << shown.err;
  const Finished run =
      run_program({program("stripline"), "run", "-n", "2", "--fabric", "emulated:modern-rdma",
                   "--clock", "virtual", "--model", file, "--", program("hello")});
  EXPECT_EQ(run.exit_code, kExitBadInput) << run.err;
}

}  // namespace
}  // namespace stripline::e2e
