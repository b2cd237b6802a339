#include "optimizer/model/sections.h"

#include <cstdlib>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "base/whole_file.h"
#include "optimizer/model/model_json.h"
#include "optimizer/model/validate.h"

namespace stripline::model {
namespace {

const char* environment(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
}

std::filesystem::path docs() {
  const char* source = environment("STRIPLINE_TEST_SOURCE");
  return std::filesystem::path(source != nullptr ? source : ".") / "docs";
}

TEST(Sections, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Section& section : sections()) {
    EXPECT_TRUE(names.insert(section.member.name).second) << section.member.name;
  }
}

TEST(Sections, AreWrittenAndShownWhereTheModelHasThem) {
  for (const Section& section : sections()) {
    TunedModel model;
    const std::string without = section.summary(model);
    EXPECT_EQ(section.member.write(model).has_value(), section.member.required);
    section.example(model);
    EXPECT_NE(section.summary(model), without) << section.member.name;
    EXPECT_TRUE(section.member.check(section.member.name, model).ok()) << section.member.name;
    const auto json = section.member.write(model);
    ASSERT_TRUE(json) << section.member.name;
    TunedModel back;
    const Status status = section.member.read(*json, section.member.name, back);
    ASSERT_TRUE(status.ok()) << status.error().message();
    EXPECT_EQ(section.member.write(back), json);
  }
}

TEST(Sections, RefuseWhatIsNoSectionAtAll) {
  for (const Section& section : sections()) {
    for (const Json& json : {Json(), Json(1), Json::array({1}), Json{{"surprise", 1}}}) {
      TunedModel model;
      const Status status = section.member.read(json, section.member.name, model);
      ASSERT_FALSE(status.ok()) << section.member.name << ": " << json.dump();
      EXPECT_EQ(status.error().message().find(section.member.name), 0U);
    }
  }
}

// `scripts/check.sh schema` writes it again.
TEST(ModelSchema, IsTheFileOfTheDocumentation) {
  const std::filesystem::path path = docs() / "schema/model-v1.schema.json";
  if (environment("STRIPLINE_TEST_WRITE_SCHEMA") != nullptr) {
    ASSERT_TRUE(write_json_file(path, model_schema()).ok());
  }
  EXPECT_EQ(*read_json_file(path), model_schema()) << "run: scripts/check.sh schema";
}

void collect_members(const Json& schema, std::set<std::string>& names) {
  if (schema.contains("properties")) {
    for (const auto& [name, member] : schema["properties"].items()) names.insert(name);
  }
  for (const Json& part : schema) {
    if (part.is_structured()) collect_members(part, names);
  }
}

TEST(ModelReference, HasARowForEachSectionAndNamesEachMember) {
  const std::string page = *read_whole_file(docs() / "model-file.md");
  for (const Section& section : sections()) {
    EXPECT_NE(page.find("| `" + section.member.name + "` |"), std::string::npos)
        << section.member.name << " has no row in docs/model-file.md";
  }
  std::set<std::string> members;
  collect_members(model_schema(), members);
  for (const std::string& name : members) {
    EXPECT_NE(page.find(name), std::string::npos) << name << " is not in docs/model-file.md";
  }
}

}  // namespace
}  // namespace stripline::model
