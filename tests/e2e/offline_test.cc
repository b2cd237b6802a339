// A campaign that is planned by one server, measured without any, and imported by another.
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "optimizer/model/model_json.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

// A few runs of the networks' own experiments.
const std::vector<std::string> kRequest = {"--fabric",      "emulated:opteron-vapi",
                                           "--runs",        "6",
                                           "--experiment",  "micro.latency",
                                           "--experiment",  "micro.issue",
                                           "--experiment",  "micro.flood",
                                           "--model",       "vapi",
                                           "--time-budget", "250"};

std::vector<std::string> words(std::vector<std::string> first,
                               const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

Finished run_plan(const std::string& plan, const std::string& results) {
  return run_program({program("stripline"), "campaign", "run-plan", plan, "-o", results}, 280);
}

TEST(OfflineCampaign, IsPlannedHereMeasuredThereAndImported) {
  const TempFolder folder;
  const std::string plan = (folder / "plan.json").string();
  const std::string results = (folder / "results.jsonl").string();
  const std::string online_file = (folder / "online.json").string();
  const std::string offline_file = (folder / "offline.json").string();
  {
    const ServerProcess server(folder, {});
    ASSERT_FALSE(server.address().empty()) << server.log();
    const AgentProcess a(folder, server.address(), "a");
    const AgentProcess b(folder, server.address(), "b");
    ASSERT_TRUE(nodes_become_idle(server.address(), {"a", "b"}, 20));
    const Finished campaign = cli(server.address(), words({"campaign", "run"}, kRequest), 280);
    ASSERT_EQ(campaign.exit_code, kExitOk) << campaign.err << server.log();
    ASSERT_EQ(cli(server.address(), {"model", "fetch", "vapi", "-o", online_file}).exit_code, 0);
    const Finished exported = cli(server.address(), {"campaign", "export-plan", "c1", "-o", plan});
    ASSERT_EQ(exported.exit_code, kExitOk) << exported.err;
    // The same as what is planned without a campaign, but for where it is from.
    const std::string again = (folder / "again.json").string();
    const Finished planned =
        cli(server.address(), words(words({"campaign", "export-plan"}, kRequest), {"-o", again}));
    ASSERT_EQ(planned.exit_code, kExitOk) << planned.err;
    Json one = Json::parse(read_file(plan));
    Json other = Json::parse(read_file(again));
    EXPECT_EQ(one["origin"], "campaigns/c1");
    for (Json* json : {&one, &other}) {
      json->erase("origin");
      json->erase("sha256");
    }
    EXPECT_EQ(one, other);
  }

  // Killed after its first run, it goes on with the second.
  {
    Program killed(folder, "killed", {program("stripline-bench"), "run-plan", plan, "-o", results});
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(results); }, 120)) << killed.err();
    killed.process().signal(SIGKILL);
  }
  const std::string first = read_file(results);
  const Finished measured = run_plan(plan, results);
  ASSERT_EQ(measured.exit_code, kExitOk) << measured.out << measured.err;
  EXPECT_NE(measured.out.find("6 runs"), std::string::npos) << measured.out;
  const std::string text = read_file(results);
  EXPECT_EQ(text.substr(0, 1000), first.substr(0, 1000));
  EXPECT_EQ(lines_with(text, R"("rank_nodes")"), 6U);
  const Finished nothing_left = run_plan(plan, results);
  EXPECT_EQ(nothing_left.exit_code, kExitOk) << nothing_left.err;
  EXPECT_EQ(read_file(results), text);

  const TempFolder elsewhere;
  const ServerProcess server(elsewhere, {});
  ASSERT_FALSE(server.address().empty()) << server.log();
  const Finished imported = cli(server.address(), {"campaign", "import", results}, 120);
  ASSERT_EQ(imported.exit_code, kExitOk) << imported.err << server.log();
  EXPECT_NE(imported.out.find("models/vapi/versions/1"), std::string::npos) << imported.out;
  ASSERT_EQ(cli(server.address(), {"model", "fetch", "vapi", "-o", offline_file}).exit_code, 0);
  const auto online = model::load_model(online_file);
  const auto offline = model::load_model(offline_file);
  ASSERT_TRUE(online.ok() && offline.ok());
  EXPECT_EQ(offline->provenance.campaigns, std::vector<std::string>{"campaigns/c1"});
  EXPECT_EQ(offline->provenance.provisional, online->provenance.provisional);
  // Both are of this machine.
  ASSERT_EQ(offline->fingerprint.size(), online->fingerprint.size());
  for (const auto& [field, value] : online->fingerprint) {
    ASSERT_TRUE(offline->fingerprint.contains(field)) << field;
    EXPECT_EQ(offline->fingerprint.at(field).value, value.value) << field;
  }
  const std::vector<Json> shown = cli_json(server.address(), {"campaign", "show", "c1"});
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0]["runs_done"], 6);
  EXPECT_EQ(shown[0]["stop_reason"], "MAX_RUNS");
  // Imported twice, it is one campaign.
  EXPECT_EQ(cli(server.address(), {"campaign", "import", results}).exit_code, kExitOk);
  EXPECT_EQ(cli_json(server.address(), {"campaign", "list"}).size(), 1U);
  std::ofstream(results, std::ios::app) << "{}\n";
  EXPECT_EQ(cli(server.address(), {"campaign", "import", results}).exit_code, kExitBadInput);
  EXPECT_EQ(run_plan(results, results).exit_code, kExitBadInput);
}

// micro.issue hangs at the first attempt, and its rank dies at the second one.
TEST(OfflineCampaign, AnExperimentThatFailsIsLeftOutAndTheOthersAreMeasured) {
  const TempFolder folder;
  const std::string plan = (folder / "plan.json").string();
  const std::string results = (folder / "results.jsonl").string();
  const std::string description = (folder / "description.json").string();
  std::ofstream(description) << run_program({program("stripline-worker"), "--describe"}).out;
  const ServerProcess server(folder, {});
  ASSERT_FALSE(server.address().empty()) << server.log();
  const Finished exported = cli(
      server.address(), {"campaign", "export-plan", "--description", description, "--fabric",
                         "emulated:opteron-vapi", "--runs", "3", "--experiment", "micro.latency",
                         "--experiment", "micro.issue", "--time-budget", "250", "-o", plan});
  ASSERT_EQ(exported.exit_code, kExitOk) << exported.err;

  // It takes the worker that is beside it.
  const std::string bench = (folder / "stripline-bench").string();
  std::filesystem::copy_file(program("stripline-bench"), bench);
  std::filesystem::copy_file(program("failing_worker"), folder / "stripline-worker");
  const auto measure = [&] {
    return run_program({bench, "run-plan", plan, "-o", results}, 200,
                       {{"FAILING_WORKER_EXPERIMENT", "micro.issue"},
                        {"FAILING_WORKER_MARK", (folder / "mark").string()}});
  };
  const Finished measured = measure();
  ASSERT_EQ(measured.exit_code, kExitOk) << measured.out << measured.err;
  // In this order.
  size_t at = 0;
  for (const std::string said :
       {" of 3: micro.issue/", " has taken 1", "; it is given up after 30 s",
        "a run was lost, and is measured again: micro.issue/", ", and is given up",
        "a run was lost: rank 1 on ", "SIGKILL", ", while it measured micro.issue/",
        "; micro.issue is left out from now on, and the others are measured"}) {
    at = measured.err.find(said, at);
    ASSERT_NE(at, std::string::npos) << said << "\n" << measured.err;
  }
  const std::string without = "; without micro.issue, which was left out after rank 1 on ";
  EXPECT_NE(measured.out.find(": 3 runs in "), std::string::npos) << measured.out;
  EXPECT_NE(measured.out.find(without), std::string::npos) << measured.out;
  // What was left out stays so.
  const std::string again = measure().out;
  EXPECT_NE(again.find(without), std::string::npos) << again;

  ASSERT_EQ(cli(server.address(), {"campaign", "import", results}).exit_code, kExitOk);
  const std::vector<Json> shown = cli_json(server.address(), {"campaign", "show", "c1"});
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_NE(shown[0].value("message", "").find(without), std::string::npos) << shown[0];
  EXPECT_EQ(shown[0]["runs_done"], 3);
}

}  // namespace
}  // namespace stripline::e2e
