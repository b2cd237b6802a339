// The whole loop with real processes: agents measure, the server fits, a program runs with the
// model.
#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "optimizer/model/model_json.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

TEST(CampaignLoop, FromAgentsToAModelFileAndBack) {
  const TempFolder folder;
  const ServerProcess server(folder, {});
  ASSERT_FALSE(server.address().empty()) << server.log();
  const AgentProcess a(folder, server.address(), "a");
  const AgentProcess b(folder, server.address(), "b");
  ASSERT_TRUE(nodes_become_idle(server.address(), {"a", "b"}, 20));

  const Finished campaign = cli(server.address(),
                                {"campaign", "run", "--fabric", "emulated:opteron-vapi", "--runs",
                                 "6", "--model", "vapi", "--seed", "1", "--time-budget", "250"},
                                280);
  ASSERT_EQ(campaign.exit_code, kExitOk) << campaign.err << server.log() << a.log();
  EXPECT_NE(campaign.out.find("models/vapi/versions/1"), std::string::npos) << campaign.out;
  EXPECT_NE(campaign.out.find("stripline model fetch vapi@1"), std::string::npos) << campaign.out;

  const std::string file = (folder / "vapi.stripline.json").string();
  ASSERT_EQ(cli(server.address(), {"model", "fetch", "vapi", "-o", file}).exit_code, kExitOk);
  const auto model = model::load_model(file);
  ASSERT_TRUE(model.ok()) << model.error().message();
  EXPECT_EQ(model->provenance.campaigns, std::vector<std::string>{"campaigns/c1"});
  ASSERT_FALSE(model->network.empty());
  EXPECT_TRUE(model->network.begin()->second.get);
  const Finished again = cli(server.address(), {"model", "fetch", "vapi", "-o", file});
  EXPECT_NE(again.out.find("is current"), std::string::npos) << again.out;

  const Finished explained = cli(server.address(), {"explain", "loop", file, "--bytes", "1MiB"});
  EXPECT_EQ(explained.exit_code, kExitOk) << explained.err;
  const Finished hello =
      run_program({program("stripline"), "run", "-n", "2", "--fabric", "emulated:opteron-vapi",
                   "--clock", "virtual", "--model", file, "--", program("hello")});
  EXPECT_EQ(hello.exit_code, kExitOk) << hello.err;

  const std::vector<Json> series = cli_json(server.address(), {"campaign", "export", "c1"});
  const std::vector<Json> shown = cli_json(server.address(), {"campaign", "show", "c1"});
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0]["state"], "SUCCEEDED");
  EXPECT_EQ(shown[0]["runs_done"], 6);
  size_t samples = 0;
  for (const Json& one : series) {
    samples += one["values"].size();
    // A point that the fabric cannot measure has no values and says why.
    EXPECT_TRUE(one["verified"].get<bool>() || one["values"].empty()) << one.dump();
    EXPECT_EQ(one["orphan"], false);
  }
  EXPECT_EQ(std::to_string(samples), shown[0]["samples"].get<std::string>());
}

}  // namespace
}  // namespace stripline::e2e
