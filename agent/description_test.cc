#include "agent/description.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace stripline::agent {
namespace {

constexpr const char* kGood = R"({
  "version": "0.1.0", "fabrics": ["tcp"], "fingerprint": {"cpu.model": "x"}, "future": 1,
  "experiments": [{"name": "micro.latency", "version": 1, "title": "t", "description": "d",
    "factors": [], "variants": ["get"],
    "metric": {"name": "time", "unit": "s", "lower_is_better": true},
    "min_ranks": 2, "max_ranks": 2, "verification": "", "feeds": [], "added_later": true}]})";

TEST(Description, KeepsDeclarationsWithUnknownMembers) {
  const auto description = parse_description(kGood);
  ASSERT_TRUE(description.ok()) << description.error().message();
  EXPECT_EQ(description->version, "0.1.0");
  EXPECT_EQ(description->fabrics, std::vector<std::string>{"tcp"});
  EXPECT_EQ(description->fingerprint.at("cpu.model"), "x");
  ASSERT_EQ(description->experiments_json.size(), 1U);
  EXPECT_NE(description->experiments_json[0].find("added_later"), std::string::npos);
}

TEST(Description, SaysWhatARankTakes) {
  Json text = Json::parse(kGood);
  EXPECT_FALSE(parse_description(kGood)->memory);
  text["memory"] = {{"segment_bytes", 256}, {"runtime_bytes", {{"tcp", 98}}}, {"peer_bytes", 1}};
  const auto description = parse_description(text.dump());
  ASSERT_TRUE(description.ok()) << description.error().message();
  EXPECT_EQ(description->memory->segment_bytes, 256U);
  EXPECT_EQ(description->memory->runtime_bytes.at("tcp"), 98U);
  EXPECT_EQ(description->experiments.at(0).name, "micro.latency");
  text["memory"]["runtime_bytes"]["tcp"] = "much";
  EXPECT_FALSE(parse_description(text.dump()).ok());
}

TEST(Description, RefusesWhatIsNotOne) {
  for (const char* text :
       {"", "{}", "[]", R"({"version":"1","fabrics":[1],"fingerprint":{},"experiments":[]})",
        R"({"version":"1","fabrics":[],"fingerprint":{"a":1},"experiments":[]})",
        R"({"version":"1","fabrics":[],"fingerprint":{},"experiments":[{}]})"}) {
    const auto description = parse_description(text);
    ASSERT_FALSE(description.ok()) << text;
    EXPECT_EQ(description.error().code(), ErrorCode::data_loss);
  }
}

TEST(Description, SaysWhatToDoWithoutAWorker) {
  const auto missing = describe_node("/nonexistent/stripline-worker", 5);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), ErrorCode::not_found);
  EXPECT_NE(missing.error().message().find("--worker"), std::string::npos);

  const auto failing = describe_node("/bin/false", 5);
  ASSERT_FALSE(failing.ok());
  EXPECT_EQ(failing.error().code(), ErrorCode::unavailable);
  EXPECT_NE(failing.error().message().find("exited with code 1"), std::string::npos);

  const auto other = describe_node("/bin/echo", 5);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code(), ErrorCode::unavailable);
  EXPECT_NE(other.error().message().find("/bin/echo"), std::string::npos);
  EXPECT_NE(other.error().message().find("--worker"), std::string::npos);
}

}  // namespace
}  // namespace stripline::agent
