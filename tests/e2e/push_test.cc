// Models in production and withdrawn again, with real processes: published, pushed, used, reported
// of, found to be wrong, and replaced.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/model/model_json.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

constexpr double kPatience_s = 400;  // of a host where builds go on

class PushTest : public testing::Test {
 protected:
  void SetUp() override {
    write_profile(1);
    ServerSetup setup;
    setup.options.insert(setup.options.end(), options_.begin(), options_.end());
    server_ = std::make_unique<ServerProcess>(folder_, setup);
    ASSERT_FALSE(address().empty()) << server_->log();
    for (const char* node : {"a", "b"}) {
      agents_.push_back(
          start_agent(folder_, address(), node,
                      {"--profile", profile_.string(), "--models-dir", models_of(node).string()}));
    }
    ASSERT_TRUE(nodes_become_idle(address(), {"a", "b"}, kPatience_s)) << agents_[0]->err();
  }

  const std::string& address() const { return server_->address(); }
  std::filesystem::path models_of(const std::string& node) { return folder_ / ("models-" + node); }
  std::string fabric() const { return "emulated:" + profile_.string(); }

  // An emulated network whose latency is that of the first times `slowness`.
  void write_profile(double slowness) {
    const auto original = read_json_file(STRIPLINE_TEST_PROFILE);
    ASSERT_TRUE(original.ok()) << original.error().message();
    Json changed = *original;
    for (const char* direction : {"put", "get", "am"}) {
      if (!changed.contains(direction)) continue;
      for (Json& segment : changed[direction]["segments"]) {
        for (const char* parameter : {"L_s", "G_s_per_byte"}) {
          if (!segment.contains(parameter)) continue;
          Json& value = segment[parameter]["value"];
          value = slowness * value.get<double>();
        }
      }
    }
    ASSERT_TRUE(write_json_file(profile_, changed).ok());
  }

  // A version of the model "net", of a small campaign that makes and judges one.
  std::string campaign() {
    const Finished run =
        cli(address(), {"campaign",      "run",         "--fabric",     fabric(),
                        "--clock",       "virtual",     "--model",      "net",
                        "--runs",        "6",           "--experiment", "micro.latency",
                        "--experiment",  "micro.issue", "--experiment", "micro.overlap",
                        "--experiment",  "micro.flood", "--experiment", "micro.vis_window",
                        "--time-budget", "600"},
            kPatience_s);
    EXPECT_EQ(run.exit_code, kExitOk) << run.err << agents_[0]->err();
    return run.out;
  }

  Finished promote(const std::string& version, const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"model", "promote", version};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return cli(address(), arguments);
  }

  Json version(int number) {
    for (const Json& one : cli_json(address(), {"model", "list", "net"})) {
      if (one.at("name") == "models/net/versions/" + std::to_string(number)) return one;
    }
    return Json::object();
  }

  // "APPLIED net@1", or nothing.
  std::string state_of(const std::string& node) {
    for (const Json& one : cli_json(address(), {"rollout", "status"})) {
      if (one.at("name") != "nodes/" + node) continue;
      const Json& model = one.at("models").at(0);
      const std::string name = model.at("version");
      return model.at("state").get<std::string>() + " net@" + name.substr(name.rfind('/') + 1);
    }
    return "";
  }

  bool becomes(const std::string& node, const std::string& state) {
    return eventually([&] { return state_of(node) == state; }, kPatience_s);
  }

  // A program on a node, with what its agent has been given.
  Finished run_on(const std::string& node, const std::vector<std::string>& options = {},
                  const std::vector<std::string>& command = {"reduction_tuned", "65536", "20"},
                  bool guard = true) {
    std::vector<std::string> argv = {"env",
                                     "STRIPLINE_MODELS=" + models_of(node).string(),
                                     std::string("STRIPLINE_GUARD=") + (guard ? "1" : "0"),
                                     program("stripline"),
                                     "run",
                                     "-n",
                                     "2",
                                     "--fabric",
                                     fabric(),
                                     "--clock",
                                     "virtual",
                                     "--segment",
                                     "16M"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.insert(argv.end(), {"--", program(command.front())});
    argv.insert(argv.end(), command.begin() + 1, command.end());
    return run_program(argv, kPatience_s);
  }

  const TempFolder folder_;
  const std::filesystem::path profile_ = folder_ / "net.json";
  std::vector<std::string> options_ = {"--sentinel-interval", "0"};
  std::unique_ptr<ServerProcess> server_;
  std::vector<std::unique_ptr<Program>> agents_;
};

class StaleTest : public PushTest {
 protected:
  StaleTest() { options_ = {"--sentinel-interval", "1", "--stale-policy", "replace"}; }
};

TEST_F(StaleTest, AModelOfANetworkThatHasChangedIsNoticedWithdrawnAndReplaced) {
  campaign();
  ASSERT_EQ(promote("net@1", {"--label", "stable"}).exit_code, kExitOk);
  ASSERT_TRUE(becomes("a", "APPLIED net@1"));
  ASSERT_TRUE(becomes("b", "APPLIED net@1"));
  const Finished before = run_on("a");
  EXPECT_EQ(before.exit_code, kExitOk) << before.err;
  EXPECT_NE(before.err.find("using model net@1 (sha256 "), std::string::npos) << before.err;

  write_profile(4);
  ASSERT_TRUE(eventually([&] { return version(1).value("state", "") == "STALE"; }, kPatience_s))
      << version(1).dump() << server_->log();
  const Finished listed = cli(address(), {"model", "list", "net"});
  EXPECT_NE(listed.out.find("STALE: twice in a row"), std::string::npos) << listed.out;
  // There was no other version to go back to.
  EXPECT_TRUE(eventually(
      [&] {
        return agents_[0]->err().find("programs here use no model over") != std::string::npos;
      },
      kPatience_s))
      << agents_[0]->err();
  ASSERT_TRUE(becomes("a", "APPLIED net@2")) << server_->log();
  ASSERT_TRUE(becomes("b", "APPLIED net@2")) << server_->log();
  EXPECT_EQ(version(2).value("state", ""), "PUBLISHED");
  const Finished after = run_on("b");
  EXPECT_EQ(after.exit_code, kExitOk) << after.err;
  EXPECT_NE(after.err.find("using model net@2 (sha256 "), std::string::npos) << after.err;
}

TEST_F(PushTest, ABadCanaryNeverReachesTheRestAndItsReasonReachesTheUser) {
  campaign();
  ASSERT_EQ(promote("net@1", {"--label", "stable"}).exit_code, kExitOk);
  ASSERT_TRUE(becomes("a", "APPLIED net@1"));
  ASSERT_TRUE(becomes("b", "APPLIED net@1"));
  // The same of another kind of machine.
  const std::string file = (folder_ / "net.stripline.json").string();
  ASSERT_EQ(cli(address(), {"model", "fetch", "net@1", "-o", file}).exit_code, kExitOk);
  auto model = model::load_model(file);
  ASSERT_TRUE(model.ok());
  model->fingerprint["cpu.architecture"] = {"riscv64", model::MatchRule::hard};
  ASSERT_TRUE(model::save_model(*model, file).ok());
  ASSERT_EQ(cli(address(), {"model", "import", file, "--model", "net"}).exit_code, kExitOk);
  ASSERT_EQ(cli(address(), {"model", "validate", "net@2", "--campaign", "c1"}).exit_code, kExitOk);
  const Finished canary = promote("net@2", {"--label", "canary", "--node", "b"});
  ASSERT_EQ(canary.exit_code, kExitOk) << canary.err;
  ASSERT_TRUE(becomes("b", "REJECTED net@2"));
  EXPECT_EQ(state_of("a"), "APPLIED net@1");
  const Finished status = cli(address(), {"rollout", "status"});
  EXPECT_NE(status.out.find("here it is '"), std::string::npos) << status.out;
  const Finished stable = promote("net@2", {"--label", "stable"});
  EXPECT_EQ(stable.exit_code, kExitConflict);
  EXPECT_NE(stable.err.find("nodes/b rejected it: it was measured on another machine"),
            std::string::npos)
      << stable.err;
  const Finished run = run_on("b");
  EXPECT_EQ(run.exit_code, kExitOk) << run.err;
  EXPECT_NE(run.err.find("using model net@1 (sha256 "), std::string::npos) << run.err;
}

// Ten times the latency: it says so when it is judged, and is handed out to who asks for it alone.
TEST_F(PushTest, AModelThatFailsItsValidationIsNotFetchedUnasked) {
  campaign();
  const std::string file = (folder_ / "net.stripline.json").string();
  ASSERT_EQ(cli(address(), {"model", "fetch", "net@1", "-o", file}).exit_code, kExitOk);
  auto model = model::load_model(file);
  ASSERT_TRUE(model.ok());
  for (auto& [name, path] : model->network) {
    for (auto* const operation : {&path.get, &path.put}) {
      if (!*operation) continue;
      for (model::Segment& segment : (*operation)->segments) {
        if (!segment.L_s) continue;
        segment.L_s->value *= 10;
        segment.L_s->ci_low *= 10;
        segment.L_s->ci_high *= 10;
      }
    }
  }
  ASSERT_TRUE(model::save_model(*model, file).ok());
  ASSERT_EQ(cli(address(), {"model", "import", file, "--model", "bad"}).exit_code, kExitOk);
  const Finished unjudged = cli(address(), {"model", "promote", "bad@1", "--label", "stable"});
  EXPECT_EQ(unjudged.exit_code, kExitConflict);
  EXPECT_NE(unjudged.err.find("was not judged"), std::string::npos) << unjudged.err;
  const Finished judged = cli(address(), {"model", "validate", "bad@1", "--campaign", "c1"});
  EXPECT_NE(judged.out.find("bad@1: FAILED"), std::string::npos) << judged.out;
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, {"--unjudged", "I want it"}}) {
    std::vector<std::string> arguments = {"model", "promote", "bad@1", "--label", "canary"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Finished refused = cli(address(), arguments);
    EXPECT_EQ(refused.exit_code, kExitConflict);
    EXPECT_NE(refused.err.find("failed its validation"), std::string::npos) << refused.err;
  }
  const std::string copy = (folder_ / "copy.stripline.json").string();
  const Finished plain = cli(address(), {"model", "fetch", "bad", "-o", copy});
  EXPECT_EQ(plain.exit_code, kExitConflict);
  EXPECT_NE(plain.err.find("failed its validation"), std::string::npos) << plain.err;
  EXPECT_FALSE(std::filesystem::exists(copy));
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"model", "fetch", "bad", "--accept-failed", "-o", copy},
        {"model", "fetch", "bad@1", "-o", copy}}) {
    const Finished asked = cli(address(), arguments);
    EXPECT_EQ(asked.exit_code, kExitOk) << asked.err;
    EXPECT_NE(asked.err.find("warning: bad@1 failed its validation"), std::string::npos)
        << asked.err;
  }
}

TEST_F(PushTest, ChangesWhatRunsDoAndWhatTheySeeReachesTheUser) {
  const Finished untuned = run_on("a", {"--trace"});
  EXPECT_NE(untuned.err.find("blocking, 1 step"), std::string::npos) << untuned.err;
  EXPECT_NE(untuned.err.find("stripline explain loop none "), std::string::npos) << untuned.err;
  campaign();
  ASSERT_EQ(promote("net@1", {"--label", "stable"}).exit_code, kExitOk);
  ASSERT_TRUE(becomes("a", "APPLIED net@1"));
  const Finished tuned = run_on("a", {"--trace"});
  EXPECT_EQ(tuned.err.find("blocking, 1 step"), std::string::npos) << tuned.err;
  EXPECT_NE(tuned.err.find("stripline explain loop "), std::string::npos) << tuned.err;
  EXPECT_EQ(tuned.err.find("stripline explain loop none "), std::string::npos) << tuned.err;
  const Finished run = run_on("a", {"--report", "agent"});
  ASSERT_EQ(run.exit_code, kExitOk) << run.err;
  EXPECT_EQ(run.err.find("warning"), std::string::npos) << run.err;
  const std::string file = (folder_ / "report.json").string();
  ASSERT_EQ(run_on("a", {"--report", file}).exit_code, kExitOk);
  const Finished sent = cli(address(), {"feedback", "send", file});
  EXPECT_EQ(sent.exit_code, kExitOk) << sent.err;
  EXPECT_NE(sent.out.find("net@1"), std::string::npos) << sent.out;
  ASSERT_TRUE(eventually(
      [&] {
        return cli_json(address(), {"feedback", "list", "net"}).size() == 2;
      },
      kPatience_s))
      << agents_[0]->err();
  std::vector<std::string> senders;
  for (const Json& one : cli_json(address(), {"feedback", "list", "net@1"})) {
    senders.push_back(one.at("sender"));
    EXPECT_EQ(one.at("program"), "reduction_tuned");
    EXPECT_EQ(one.at("ranks"), 2);
    ASSERT_FALSE(one.at("places").empty());
    EXPECT_GT(one.at("places")[0].at("measured_s"), 0);
  }
  EXPECT_NE(std::ranges::find(senders, "nodes/a"), senders.end());
  const Finished listed = cli(address(), {"feedback", "list", "net"});
  EXPECT_NE(listed.out.find("reduction_tuned over " + fabric()), std::string::npos) << listed.out;
  EXPECT_EQ(cli(address(), {"feedback", "list", "none"}).exit_code, kExitUsage);
}

// By a version that says what the processors take, and that it is much.
TEST_F(PushTest, ChangesTheMethodsOfGathersAndUpdates) {
  campaign();
  ASSERT_EQ(promote("net@1", {"--label", "stable"}).exit_code, kExitOk);
  ASSERT_TRUE(becomes("a", "APPLIED net@1"));
  const auto shown = [&](const std::vector<std::string>& command) {
    const Finished run = run_on("a", {"--trace"}, command, false);
    EXPECT_EQ(run.exit_code, kExitOk) << run.err;
    return run.err;
  };
  const std::vector<std::string> gathers = {"gathers", "3"};
  const std::vector<std::string> updates = {"histogram", "10"};
  const std::string gathers_before = shown(gathers);
  EXPECT_NE(gathers_before.find("pack, "), std::string::npos) << gathers_before;
  const std::string updates_before = shown(updates);
  EXPECT_EQ(updates_before.find("atomics of the fabric"), std::string::npos) << updates_before;

  const std::string file = (folder_ / "net.stripline.json").string();
  ASSERT_EQ(cli(address(), {"model", "fetch", "net@1", "-o", file}).exit_code, kExitOk);
  auto model = model::load_model(file);
  ASSERT_TRUE(model.ok());
  const model::TunedModel example = model::example_model();
  const model::Parameter slow = model::example_parameter(1e-3, 0);
  model->pack = model::example_pack();
  for (model::PackPoint& point : model->pack->pack) point.region_s = slow;
  model->update = example.update;
  for (model::UpdatePoint& point : model->update->items) {
    point.append_s = point.merge_s = point.apply_s = slow;
  }
  for (auto& [name, path] : model->network) {
    if (!path.am) path.am = example.network.at("inter-node").am;
  }
  ASSERT_TRUE(model::save_model(*model, file).ok());
  ASSERT_EQ(cli(address(), {"model", "import", file, "--model", "net"}).exit_code, kExitOk);
  const Finished promoted =
      promote("net@2", {"--label", "stable", "--unjudged", "it is to be seen in programs"});
  ASSERT_EQ(promoted.exit_code, kExitOk) << promoted.err;
  ASSERT_TRUE(becomes("a", "APPLIED net@2")) << server_->log();

  const std::string gathers_after = shown(gathers);
  EXPECT_NE(gathers_after.find("bound, tuned"), std::string::npos) << gathers_after;
  EXPECT_EQ(gathers_after.find("pack, "), std::string::npos) << gathers_after;
  EXPECT_NE(gathers_after.find("stripline explain gather "), std::string::npos) << gathers_after;
  const std::string updates_after = shown(updates);
  EXPECT_NE(updates_after.find("atomics of the fabric, tuned"), std::string::npos) << updates_after;
  EXPECT_NE(updates_after.find("stripline explain update "), std::string::npos) << updates_after;
}

}  // namespace
}  // namespace stripline::e2e
