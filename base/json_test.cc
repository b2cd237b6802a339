#include "base/json.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "base/json_reader.h"

namespace stripline {
namespace {

// An array that counts how often somebody begins to walk over it.
size_t walks = 0;
template <typename T, typename Allocator>
class CountedVector : public std::vector<T, Allocator> {
 public:
  using std::vector<T, Allocator>::vector;
  auto begin() {
    ++walks;
    return std::vector<T, Allocator>::begin();
  }
  auto begin() const {
    ++walks;
    return std::vector<T, Allocator>::begin();
  }
};
using CountedJson = nlohmann::basic_json<std::map, CountedVector>;

std::string list_of_objects(size_t count) {
  std::string text = "[";
  for (size_t i = 0; i < count; ++i) text += i == 0 ? "{}" : ",{}";
  return text + "]";
}

TEST(CanonicalJson, SortsKeysAndWritesShortestDoubles) {
  const Json value = {{"b", 0.1}, {"a", {1, 2.5, 1e-9}}, {"c", nullptr}};
  EXPECT_EQ(*canonical_json(value), R"({"a":[1,2.5,1e-09],"b":0.1,"c":null})");
}

TEST(CanonicalJson, ReadsBackToTheSameDoubles) {
  for (const double x : {1.0 / 3, 6.02e23, 5e-324, -0.0, 123456789.125}) {
    const Json back = *parse_json(*canonical_json(Json{{"x", x}}), "test");
    EXPECT_EQ(back["x"].get<double>(), x);
  }
}

TEST(CanonicalJson, IsTheSameAfterAnotherTrip) {
  const std::string once = *canonical_json(Json{{"x", -0.0}, {"y", 64.0}});
  EXPECT_EQ(once, R"({"x":0,"y":64})");
  EXPECT_EQ(*canonical_json(*parse_json(once, "test")), once);
}

TEST(CanonicalJson, ReplacesTextThatIsNotUtf8) {
  EXPECT_TRUE(canonical_json(Json{{"a\xff", "b\xff"}}).ok());
}

TEST(CanonicalJson, RefusesNonFinite) {
  EXPECT_FALSE(canonical_json(Json{{"x", std::nan("")}}).ok());
  EXPECT_FALSE(canonical_json(Json{{"x", std::numeric_limits<double>::infinity()}}).ok());
}

TEST(ParseJson, NamesTheInputAndThePosition) {
  const auto result = parse_json(R"({"a": 1,)", "model 'x'");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::data_loss);
  EXPECT_NE(result.error().message().find("model 'x'"), std::string::npos);
}

TEST(ParseJson, RefusesNumbersThatDoNotFitADouble) {
  const auto result = parse_json(R"({"x": 1e999})", "'a.json'");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::data_loss);
  EXPECT_NE(result.error().message().find("out of range"), std::string::npos);
}

// Its time is the number of values as long as no value makes it walk over those before.
TEST(ParseJson, NeverWalksOverWhatItHasRead) {
  constexpr size_t kCount = 1000;
  walks = 0;
  JsonReader<CountedJson> reader(64);
  ASSERT_TRUE(CountedJson::sax_parse(list_of_objects(kCount), &reader)) << reader.problem();
  EXPECT_EQ(walks, 0U);
  const CountedJson read = std::move(reader).take();
  EXPECT_EQ(read.size(), kCount);

  // What it replaced, to show that the count would tell.
  const auto accept = [](int, CountedJson::parse_event_t, CountedJson&) { return true; };
  walks = 0;
  EXPECT_EQ(CountedJson::parse(list_of_objects(kCount), accept).size(), kCount);
  EXPECT_GE(walks, kCount);
}

TEST(ParseJson, ReadsEveryKindOfValue) {
  const std::string text =
      R"({"a":[1,-2,2.5,"x",true,null,{"b":[[],{}]}],"c":18446744073709551615,"d":{"e":false}})";
  const auto read = parse_json(text, "test");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->dump(), text);
  EXPECT_EQ(*parse_json("7", "test"), 7);
}

TEST(ParseJson, RefusesAKeyThatStandsTwice) {
  const auto result = parse_json(R"({"a":{"k":1,"l":2,"k":1}})", "model 'x'");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::data_loss);
  EXPECT_NE(result.error().message().find("'k' stands twice"), std::string::npos)
      << result.error().message();
  EXPECT_TRUE(parse_json(R"([{"k":1},{"k":1}])", "test").ok());
}

TEST(ParseJson, RefusesWhatFollowsTheValue) {
  EXPECT_FALSE(parse_json("{} {}", "test").ok());
  EXPECT_FALSE(parse_json("", "test").ok());
}

TEST(ParseJson, RefusesDeepNesting) {
  EXPECT_FALSE(parse_json(std::string(100000, '[') + std::string(100000, ']'), "deep").ok());
}

TEST(JsonFile, RoundTripsAndReportsMissing) {
  const auto path = std::filesystem::temp_directory_path() / "stripline_json_test.json";
  ASSERT_TRUE(write_json_file(path, Json{{"k", 1}}).ok());
  EXPECT_EQ((*read_json_file(path))["k"], 1);
  std::filesystem::remove(path);
  const auto missing = read_json_file(path);
  EXPECT_EQ(missing.error().code(), ErrorCode::not_found);
  EXPECT_NE(missing.error().message().find("No such file"), std::string::npos);
  const auto folder = read_json_file(path.parent_path());
  EXPECT_EQ(folder.error().code(), ErrorCode::not_found);
  EXPECT_NE(folder.error().message().find("it is a folder"), std::string::npos);
}

TEST(JsonMembers, WrongKindNamesThePath) {
  const Json object = {{"n", "text"}};
  const auto result = get_number(object, "n", "model.get");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("model.get.n"), std::string::npos);
  EXPECT_FALSE(get_integer(Json{{"n", 1.5}}, "n", "x").ok());
  EXPECT_FALSE(get_string(Json::array(), "n", "x").ok());
}

}  // namespace
}  // namespace stripline
