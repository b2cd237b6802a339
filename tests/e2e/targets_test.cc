// Other runtimes tuned by campaigns, with real processes but the runtime's own, which
// suites/targets/testing/fake_openmpi.py stands for: measured on a node, published, installed by
// agents, and taken away when they do not hold any more.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/testing/processes.h"
#include "suites/targets/testing/fake_targets.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

namespace fs = std::filesystem;

constexpr double kPatience_s = 600;  // of a host where builds go on

class Targets : public testing::Test {
 protected:
  void SetUp() override {
    if (!FakeTargets::are_available()) GTEST_SKIP() << "STRIPLINE_TEST_SOURCE is not set";
    fakes_.add_openmpi();
    ServerSetup setup;
    setup.options = {
        "--heartbeat",         "0.3", "--lease",        "5",       "--join-timeout", "15",
        "--sentinel-interval", "1",   "--stale-policy", "rollback"};
    server_ = std::make_unique<ServerProcess>(folder_, setup);
    ASSERT_FALSE(address().empty()) << server_->log();
  }

  // `wrongs`: what is wrong with Open MPI.
  void start_agent(const std::string& wrongs) {
    agent_.reset();
    const std::vector<std::string> argv = {program("stripline-agent"),
                                           "--server",
                                           address(),
                                           "--node",
                                           "a",
                                           "--models-dir",
                                           (folder_ / "models").string(),
                                           "--tune",
                                           "openmpi",
                                           "--install",
                                           "openmpi=" + installed().parent_path().string()};
    agent_ = std::make_unique<Program>(folder_, "agent-a" + std::to_string(starts_++), argv,
                                       fakes_.environment(wrongs));
    ASSERT_TRUE(nodes_become_idle(address(), {"a"}, kPatience_s)) << agent_->err();
  }

  Finished campaign(const std::string& budget_s, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"campaign",     "run",    "--target",      "openmpi",
                                          "--tune-ranks", "2,4",    "--time-budget", budget_s,
                                          "--when-busy",  "measure"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli(address(), arguments, kPatience_s);
  }

  Finished promote(const std::string& label) {
    return cli(address(), {"model", "promote", "openmpi-shm@1", "--label", label});
  }

  // "APPLIED" or "REJECTED: why".
  std::string state() {
    for (const Json& one : cli_json(address(), {"rollout", "status"})) {
      if (one.at("name") != "nodes/a") continue;
      const Json& model = one.at("models").at(0);
      const std::string reason = model.value("reason", "");
      return model.at("state").get<std::string>() + (reason.empty() ? "" : ": " + reason);
    }
    return "";
  }

  Json version() {
    const auto all = cli_json(address(), {"model", "list", "openmpi-shm"});
    return all.empty() ? Json::object() : all.front();
  }

  // True while the agent's process tunes. Tests that run at the same time start the same program,
  // with another home.
  bool is_tuning() const {
    return std::ranges::any_of(processes_of(program("stripline-tune")), [&](pid_t pid) {
      const std::string variables = read_file("/proc/" + std::to_string(pid) + "/environ");
      return variables.find(fakes_.home().string()) != std::string::npos;
    });
  }

  const std::string& address() const { return server_->address(); }
  fs::path installed() const { return fakes_.home() / ".openmpi/mca-params.conf"; }

  const TempFolder folder_;
  const FakeTargets fakes_{folder_.path()};
  int starts_ = 0;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<Program> agent_;
};

TEST_F(Targets, AreTunedOnANodeAndTheirSettingsInstalledUntilTheRuntimeChanges) {
  ASSERT_NO_FATAL_FAILURE(start_agent(""));
  const Finished run = campaign("110");
  ASSERT_EQ(run.exit_code, kExitOk) << run.err << run.out << agent_->err();
  EXPECT_NE(run.out.find("models/openmpi-shm/versions/1"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("stripline export install --packed openmpi-shm.stripline.json"),
            std::string::npos)
      << run.out;
  EXPECT_EQ(version().at("state"), "VALIDATED") << version().dump();
  EXPECT_TRUE(version().at("validation").at("settings").at("validated").get<bool>());
  EXPECT_GT(version().at("validation").at("settings").at("probe_factor").get<double>(), 1.2);
  // What it gains, by number of ranks.
  size_t gains = 0;
  size_t cells = 0;
  for (const Json& point : cli_json(address(), {"campaign", "points", "c1"})) {
    if (point.at("experiment") == "target.tune") {
      ++gains;
      EXPECT_GT(point.at("median").get<double>(), 1) << point.dump();
    } else {
      // Seconds, of what the search has measured.
      ++cells;
      EXPECT_LT(point.at("median").get<double>(), 1) << point.dump();
    }
  }
  EXPECT_EQ(gains, 2U);
  EXPECT_GT(cells, 10U);

  const Finished shown = cli(address(), {"model", "show", "openmpi-shm@1"});
  EXPECT_NE(shown.out.find("# Written by Stripline"), std::string::npos) << shown.out << shown.err;
  EXPECT_NE(shown.out.find("bcast, 4 ranks, "), std::string::npos) << shown.out;
  const std::string file = (folder_ / "packed.json").string();
  ASSERT_EQ(cli(address(), {"model", "fetch", "openmpi-shm@1", "-o", file}).exit_code, kExitOk);
  EXPECT_NE(cli(address(), {"model", "fetch", "openmpi-shm@1", "-o", file}).out.find("is current"),
            std::string::npos);
  const Finished same = cli(address(), {"model", "diff", "openmpi-shm@1", file});
  EXPECT_EQ(same.out, "no setting differs\n") << same.err;

  // What a server has is converted like a file.
  const Finished converted =
      run_program({program("stripline"), "export", "convert", "openmpi-shm@1", "--for", "5.0", "-o",
                   (folder_ / "converted").string()},
                  kPatience_s, {{"STRIPLINE_SERVER", address()}});
  EXPECT_EQ(converted.exit_code, kExitOk) << converted.err << converted.out;
  EXPECT_TRUE(fs::exists(folder_ / "converted" / "stripline-export.json")) << converted.out;

  // A file of somebody else is never replaced, and what a node has rejected is not for all.
  fs::create_directories(installed().parent_path());
  std::ofstream(installed()) << "btl = self\n";
  ASSERT_EQ(promote("canary").exit_code, kExitOk);
  ASSERT_TRUE(eventually([&] { return state().starts_with("REJECTED: "); }, kPatience_s))
      << state() << agent_->err();
  EXPECT_EQ(read_file(installed()), "btl = self\n");
  EXPECT_EQ(promote("stable").exit_code, kExitConflict);

  fs::remove(installed());
  ASSERT_EQ(promote("canary").exit_code, kExitOk);
  ASSERT_TRUE(eventually([&] { return state() == "APPLIED"; }, kPatience_s))
      << state() << agent_->err();
  EXPECT_TRUE(read_file(installed()).starts_with("# Written by Stripline")) << state();
  ASSERT_EQ(promote("stable").exit_code, kExitOk);
  const Finished audit = cli(address(), {"audit"});
  EXPECT_NE(audit.out.find("promote model version to stable"), std::string::npos) << audit.out;

  // The settings are validated again where they were tuned, and hold.
  ASSERT_TRUE(
      eventually([&] { return !version().value("checks", Json::array()).empty(); }, kPatience_s))
      << version().dump() << server_->log() << agent_->err();
  EXPECT_EQ(version().at("state"), "PUBLISHED") << version().dump();

  // Another version of the runtime: they do not hold any more, and go.
  ASSERT_NO_FATAL_FAILURE(start_agent("new"));
  ASSERT_TRUE(eventually([&] { return version().value("state", "") == "STALE"; }, kPatience_s))
      << version().dump() << server_->log();
  EXPECT_NE(version().value("stale", "").find("was 4.1.4 and is 4.1.7"), std::string::npos)
      << version().dump();
  EXPECT_TRUE(eventually([&] { return !fs::exists(installed()); }, kPatience_s)) << agent_->err();
}

TEST_F(Targets, WhatIsSlowerIsNotPublished) {
  ASSERT_NO_FATAL_FAILURE(start_agent("slow"));
  const Finished run = campaign("75");
  EXPECT_EQ(run.exit_code, kExitOk) << run.err << agent_->err();
  EXPECT_NE(run.out.find("keeps its default settings"), std::string::npos) << run.out;
  EXPECT_TRUE(cli_json(address(), {"model", "list"}).empty());
}

TEST_F(Targets, ACancelledCampaignLeavesNoProcess) {
  ASSERT_NO_FATAL_FAILURE(start_agent("late"));
  ASSERT_EQ(campaign("240", {"--detach"}).exit_code, kExitOk);
  ASSERT_TRUE(eventually([&] { return is_tuning(); }, kPatience_s)) << agent_->err();
  ASSERT_EQ(cli(address(), {"campaign", "cancel", "c1"}).exit_code, kExitOk);
  EXPECT_TRUE(eventually([&] { return !is_tuning(); }, kPatience_s));
  EXPECT_TRUE(nodes_become_idle(address(), {"a"}, kPatience_s));
  EXPECT_EQ(cli_json(address(), {"campaign", "show", "c1"}).at(0).at("state"), "CANCELLED");
}

TEST_F(Targets, OnlyWhatAnAgentOffersIsTuned) {
  ASSERT_NO_FATAL_FAILURE(start_agent(""));
  const Finished other = cli(address(), {"campaign", "run", "--target", "mpich"});
  EXPECT_EQ(other.exit_code, kExitUsage) << other.out;
  EXPECT_NE(other.err.find("tune:mpich"), std::string::npos) << other.err;
  const Finished wrong =
      cli(address(), {"campaign", "run", "--target", "openmpi", "--tune-ranks", "1"});
  EXPECT_EQ(wrong.exit_code, kExitUsage) << wrong.out;
}

}  // namespace
}  // namespace stripline::e2e
