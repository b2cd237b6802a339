// The whole loop with real processes: agents measure, the server fits, a program runs with the
// model.
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "optimizer/model/model_json.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

// Its computation is declared, so that the model is judged as well where a sanitizer makes
// computing slow.
constexpr const char* kNetwork = "emulated:opteron-vapi,compute=declared";

// Words of the line that begins with `label`, behind it.
std::vector<std::string> words_after(const std::string& text, const std::string& label) {
  const size_t at = text.find(label);
  if (at == std::string::npos) return {};
  std::istringstream line(text.substr(at + label.size(), text.find('\n', at) - at - label.size()));
  return {std::istream_iterator<std::string>(line), {}};
}

TEST(CampaignLoop, FromAgentsToAModelFileAndBack) {
  const TempFolder folder;
  const ServerProcess server(folder, {});
  ASSERT_FALSE(server.address().empty()) << server.log();
  const AgentProcess a(folder, server.address(), "a");
  const AgentProcess b(folder, server.address(), "b");
  ASSERT_TRUE(nodes_become_idle(server.address(), {"a", "b"}, 20));

  const Finished campaign = cli(server.address(),
                                {"campaign", "run", "--fabric", kNetwork, "--runs", "6", "--model",
                                 "vapi", "--seed", "1", "--time-budget", "250"},
                                430);
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

  // What is withdrawn is not taken unless it is named.
  const Finished withdrawn =
      cli(server.address(), {"model", "withdraw", "vapi@1", "--reason", "x"});
  EXPECT_EQ(withdrawn.exit_code, kExitOk) << withdrawn.err;
  EXPECT_EQ(cli(server.address(), {"model", "fetch", "vapi", "-o", file}).exit_code, kExitUsage);
  const Finished named = cli(server.address(), {"model", "fetch", "vapi@1", "-o", file});
  EXPECT_EQ(named.exit_code, kExitOk) << named.err;
  EXPECT_NE(named.err.find("withdrawn: x"), std::string::npos) << named.err;
  const Finished listed = cli(server.address(), {"model", "list", "vapi"});
  EXPECT_NE(listed.out.find("WITHDRAWN: x"), std::string::npos) << listed.out;

  const Finished explained = cli(server.address(), {"explain", "loop", file, "--bytes", "1MiB"});
  EXPECT_EQ(explained.exit_code, kExitOk) << explained.err;
  // As the campaign's last words say, beside the file that was fetched.
  const auto words = words_after(campaign.out, "use it:");
  ASSERT_GT(words.size(), 2U) << campaign.out;
  std::string line = "cd '" + (folder / ".").string() + "' && '" + program("stripline") + "'";
  for (size_t i = 1; i + 1 < words.size(); ++i) line += " " + words[i];
  EXPECT_EQ(words.front(), "stripline");
  EXPECT_EQ(words.back(), "PROGRAM");
  const Finished hello = run_program({"sh", "-c", line + " '" + program("hello") + "'"});
  EXPECT_EQ(hello.exit_code, kExitOk) << line << "\n" << hello.err;

  const std::vector<Json> series = cli_json(server.address(), {"campaign", "export", "c1"});
  const std::vector<Json> shown = cli_json(server.address(), {"campaign", "show", "c1"});
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0]["state"], "SUCCEEDED");
  EXPECT_EQ(shown[0]["runs_done"], 6);
  size_t samples = 0;
  for (const Json& one : series) {
    // A host so busy that an agent was silent for too long has begun its run once more.
    if (one["orphan"].get<bool>()) continue;
    samples += one["values"].size();
    // A point that the fabric cannot measure has no values and says why.
    EXPECT_TRUE(one["verified"].get<bool>() || one["values"].empty()) << one.dump();
  }
  EXPECT_EQ(std::to_string(samples), shown[0]["samples"].get<std::string>());

  // Under sanitizers comparing all usual decisions takes its time.
  const Finished same = cli(server.address(), {"model", "diff", "vapi@1", file}, 240);
  EXPECT_EQ(same.exit_code, kExitOk) << same.err;
  EXPECT_NE(same.out.find("no parameter differs"), std::string::npos) << same.out;
  // A report of the campaign has its points, its events and the model.
  const std::string page = (folder / "c1.html").string();
  const Finished reported = cli(server.address(), {"report", "c1", "-o", page});
  if (reported.exit_code == kExitUsage) {
    EXPECT_NE(reported.err.find("STRIPLINE_DASHBOARD"), std::string::npos) << reported.err;
    return;
  }
  ASSERT_EQ(reported.exit_code, kExitOk) << reported.err;
  const std::string text = read_file(page);
  const std::string head = "id=\"report\">";
  const size_t begin = text.find(head) + head.size();
  const Json report = Json::parse(text.substr(begin, text.find("</script>", begin) - begin));
  const Json& answers = report.at("answers");
  size_t told = 0;
  for (const Json& point : answers.at("campaigns/c1/points").at("points")) {
    told += point.at("samples").get<size_t>();
  }
  EXPECT_EQ(told, samples);
  EXPECT_EQ(answers.at("campaigns/c1/events").back().at("campaign").at("state"), "SUCCEEDED");
  EXPECT_EQ(answers.at("models/vapi/versions/1/file").at("sha256"),
            model::to_json(*model)->at("sha256"));
}

}  // namespace
}  // namespace stripline::e2e
