#include "optimizer/campaign/spec.h"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "optimizer/campaign/spec_json.h"

namespace stripline::campaign {
namespace {

TEST(SpecFields, AreNamedOnce) {
  std::set<std::string> names;
  std::set<std::string> options;
  for (const SpecField& field : spec_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_TRUE(options.insert(field.option).second) << field.option;
    EXPECT_NE(field.help, nullptr) << field.name;
  }
}

TEST(SpecFields, ThoseThatAreNotSaidAreStoredWhereTheyAlwaysWere) {
  const Json json = to_json(Spec{});
  EXPECT_TRUE(json.contains("time_budget_s"));
  EXPECT_FALSE(json.contains("node_budget_s"));
  EXPECT_EQ(json.at("effort"), "budgeted");
  EXPECT_FALSE(spec_from_json(Json::object()).ok());
  EXPECT_EQ(to_json(*spec_from_json(json)), json);
}

TEST(SpecBudgets, AreChosenAndHeldAgainstWhatIsNeeded) {
  Spec spec{.fabric = "tcp", .nodes = 4};
  choose_budgets(spec);
  EXPECT_EQ(spec.time_budget_s, 60);
  EXPECT_EQ(spec.node_budget_s, 1800);
  EXPECT_EQ(charged_text(spec, 39.6), "40 node-seconds of 1800");
  EXPECT_EQ(needed_budgets(spec, 60).time_s, 0);
  EXPECT_EQ(needed_budgets(spec, 500).time_s, 500);
  EXPECT_EQ(needed_budgets(spec, 500).node_s, 2000);
  EXPECT_EQ(budget_options(spec, 500), "--time-budget 500 --node-budget 2000");
  Spec timed{.fabric = "tcp", .effort = Effort::full, .time_budget_s = 90};
  choose_budgets(timed);
  EXPECT_EQ(timed.time_budget_s, 90);
  EXPECT_EQ(timed.node_budget_s, 0) << "none where a time budget is asked for";
  EXPECT_EQ(charged_text(timed, 40), "40 node-seconds");
}

// STRIPLINE_TEST_WRITE_SCHEMA writes it (scripts/check.sh schema).
TEST(SpecFields, ThePageHasThoseOfTheTable) {
  const char* const source = std::getenv("STRIPLINE_TEST_SOURCE");  // NOLINT(concurrency-mt-unsafe)
  if (source == nullptr) GTEST_SKIP() << "STRIPLINE_TEST_SOURCE is not set";
  const auto path = std::filesystem::path(source) / "dashboards/src/campaign_fields.json";
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  if (std::getenv("STRIPLINE_TEST_WRITE_SCHEMA") != nullptr) {
    ASSERT_TRUE(write_json_file(path, form_fields_json()).ok());
  }
  const auto written = read_json_file(path);
  ASSERT_TRUE(written.ok()) << written.error().message();
  EXPECT_EQ(*written, form_fields_json()) << "run 'scripts/check.sh schema'";
}

}  // namespace
}  // namespace stripline::campaign
