#include "base/settings.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include <gtest/gtest.h>

namespace stripline {
namespace {

/// The setting of this name; one without a name if there is none.
Setting find(const std::vector<Setting>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Setting::name);
  return found != all.end() ? *found : Setting{};
}

class SettingsTest : public testing::Test {
 protected:
  void set(const char* name, const char* value) {
    ::setenv(name, value, 1);  // NOLINT(concurrency-mt-unsafe)
    names_.insert(name);
  }
  ~SettingsTest() override {
    for (const auto& name : names_) ::unsetenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
  }

 private:
  std::set<std::string> names_;
};

TEST_F(SettingsTest, EveryVariableHasANameOnceAndAMeaning) {
  std::set<std::string_view> names;
  for (const Variable& one : variables()) {
    EXPECT_TRUE(one.name.starts_with("STRIPLINE_"));
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_FALSE(one.meaning.empty()) << one.name;
    EXPECT_EQ(one.meaning.find('\n'), std::string_view::npos) << one.name;
  }
}

TEST_F(SettingsTest, OriginSaysWhoSetAValue) {
  set("STRIPLINE_CLOCK", "virtual");
  set("STRIPLINE_SEED", "7");
  set("STRIPLINE_MODEL", "");  // like not set
  set("STRIPLINE_OPTIONS", "STRIPLINE_FABRIC STRIPLINE_SEED");
  const auto all = settings();
  EXPECT_EQ(find(all, "STRIPLINE_CLOCK"), (Setting{"STRIPLINE_CLOCK", "virtual", "environment"}));
  EXPECT_EQ(find(all, "STRIPLINE_SEED"), (Setting{"STRIPLINE_SEED", "7", "option"}));
  EXPECT_EQ(find(all, "STRIPLINE_MODEL"), (Setting{"STRIPLINE_MODEL", "", "default"}));
  EXPECT_EQ(find(all, "STRIPLINE_FABRIC"), (Setting{"STRIPLINE_FABRIC", "tcp", "default"}));
}

TEST_F(SettingsTest, ValuesOfProcessesToBeStarted) {
  EXPECT_EQ(value_with({}, "STRIPLINE_SEED"), "0");
  set("STRIPLINE_SEED", "5");
  EXPECT_EQ(value_with({}, "STRIPLINE_SEED"), "5");
  EXPECT_EQ(value_with({{"STRIPLINE_SEED", "7"}}, "STRIPLINE_SEED"), "7");
  EXPECT_EQ(value_with({{"STRIPLINE_SEED", ""}}, "STRIPLINE_SEED"), "0") << "like not set";
  EXPECT_EQ(value_with({}, "STRIPLINE_NO_SUCH"), "");
}

TEST_F(SettingsTest, SpellingMistakesAreFound) {
  set("STRIPLINE_FABRICS", "shm");
  set("STRIPLINE_RANK", "1");
  set("STRIPLINE_SERVER", "somewhere:1");
  const auto all = settings();
  EXPECT_EQ(find(all, "STRIPLINE_FABRICS"), (Setting{"STRIPLINE_FABRICS", "shm", "unknown"}));
  EXPECT_EQ(std::ranges::count(all, "unknown", &Setting::origin), 1);
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::filesystem::path source() {
  const char* folder = std::getenv("STRIPLINE_TEST_SOURCE");  // NOLINT(concurrency-mt-unsafe)
  return folder != nullptr ? folder : "";
}

TEST_F(SettingsTest, DocumentationListsEveryVariable) {
  if (source().empty()) GTEST_SKIP() << "STRIPLINE_TEST_SOURCE is not set";
  const std::string docs = text_of(source() / "docs/launching.md");
  for (const Variable& one : variables()) {
    const std::string row = "| `" + std::string(one.name) + "` | " +
                            (one.fallback.empty() ? "" : std::string(one.fallback) + " ") + "| " +
                            std::string(one.meaning) + " |\n";
    EXPECT_NE(docs.find(row), std::string::npos) << "docs/launching.md lacks\n" << row;
  }
}

TEST_F(SettingsTest, WhatTheRuntimeReadsIsListed) {
  if (source().empty()) GTEST_SKIP() << "STRIPLINE_TEST_SOURCE is not set";
  const std::regex reads(
      R"re((?:variable|environment|getenv|number|read_switch|value_with)\((?:environment, )?"(STRIPLINE_[A-Z_]+)"[,)])re");
  const std::set<std::string> protocol = {"STRIPLINE_RANK", "STRIPLINE_RANKS", "STRIPLINE_JOB_ID",
                                          "STRIPLINE_CONTROL_FD"};
  std::set<std::string> known;
  for (const Variable& one : variables()) known.emplace(one.name);
  size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source() / "runtime")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".cc") || name.ends_with("_test.cc")) continue;
    const std::string text = text_of(entry.path());
    for (auto match = std::sregex_iterator(text.begin(), text.end(), reads);
         match != std::sregex_iterator(); ++match) {
      ++found;
      const std::string variable = (*match)[1];
      EXPECT_TRUE(known.contains(variable) || protocol.contains(variable))
          << entry.path() << " reads " << variable << ", which base/settings.cc does not list";
    }
  }
  EXPECT_GE(found, variables().size());
}

}  // namespace
}  // namespace stripline
