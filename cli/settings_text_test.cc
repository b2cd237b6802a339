#include "cli/settings_text.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace stripline::cli {
namespace {

Json cell(const char* chosen, int bytes) {
  return {{"collective", "bcast"}, {"ranks", 4}, {"bytes", bytes}, {"chosen", chosen}};
}

Json example() {
  return {{"format", "stripline export 1"},
          {"files", {{"rules.conf", "# Written by Stripline\n1\n"}}},
          {"record",
           {{"target", "openmpi"},
            {"version", "4.1.4"},
            {"path", "shm"},
            {"ranks", {2, 4}},
            {"validated", true},
            {"cells", {cell("binomial", 8), cell("default", 4096)}},
            {"settings", {{"btl_vader_eager_limit", "8192"}}},
            {"proofs", Json::array({{{"factor", 3.5}}, {{"factor", 2.0}}})}}}};
}

TEST(SettingsText, HasWhatItIsOfAndTheFiles) {
  const auto text = settings_text(example().dump());
  ASSERT_TRUE(text.ok()) << text.error().message();
  EXPECT_NE(text->find("4.1.4"), std::string::npos) << *text;
  EXPECT_NE(text->find("a probe took 3.50 and 2.00 times as long"), std::string::npos) << *text;
  EXPECT_NE(text->find("rules.conf:\n# Written by Stripline\n1\n"), std::string::npos) << *text;
  Json unproven = example();
  unproven["record"]["proofs"][1]["factor"] = nullptr;
  EXPECT_NE(settings_text(unproven.dump())->find("not shown"), std::string::npos);
  EXPECT_FALSE(settings_text("{}").ok());
}

TEST(SettingsText, DiffersWhereADecisionDoes) {
  Json other = example();
  EXPECT_EQ(*settings_diff(example().dump(), other.dump(), "a", "b"), "no setting differs\n");
  other["record"]["cells"][0]["chosen"] = "chain";
  other["record"]["settings"] = Json::object();
  const auto diff = settings_diff(example().dump(), other.dump(), "a", "b");
  ASSERT_TRUE(diff.ok());
  EXPECT_NE(diff->find("bcast, 4 ranks, 8 bytes"), std::string::npos) << *diff;
  EXPECT_NE(diff->find("chain"), std::string::npos) << *diff;
  EXPECT_NE(diff->find("btl_vader_eager_limit"), std::string::npos) << *diff;
  EXPECT_EQ(diff->find("4096"), std::string::npos) << *diff;
}

}  // namespace
}  // namespace stripline::cli
