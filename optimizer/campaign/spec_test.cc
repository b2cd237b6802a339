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
