#include "suites/results/json_lines.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

namespace stripline::suites::results {
namespace {

class JsonLines : public ::testing::Test {
 protected:
  JsonLines()
      : folder_(std::filesystem::temp_directory_path() /
                ("stripline-lines-" + std::to_string(::getpid()))) {}
  ~JsonLines() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file() const { return folder_ / "a" / "records.jsonl"; }

 private:
  std::filesystem::path folder_;
};

TEST_F(JsonLines, NoFileIsNoRecords) {
  const auto records = read_json_lines(file());
  ASSERT_TRUE(records.ok());
  EXPECT_TRUE(records->empty());
}

TEST_F(JsonLines, ACutOffLineIsDroppedAndMeasuredAgain) {
  ASSERT_TRUE(append_json_line(file(), {{"n", 1}}).ok());
  std::ofstream(file(), std::ios::app) << R"({"n": 2, "unfini)";
  auto records = read_json_lines(file());
  ASSERT_TRUE(records.ok()) << records.error().message();
  EXPECT_EQ(records->size(), 1U);
  ASSERT_TRUE(append_json_line(file(), {{"n", 2}}).ok());
  records = read_json_lines(file());
  ASSERT_TRUE(records.ok()) << records.error().message();
  ASSERT_EQ(records->size(), 2U);
  EXPECT_EQ((*records)[1]["n"], 2);
}

TEST_F(JsonLines, DamageInTheMiddleIsAnError) {
  ASSERT_TRUE(append_json_line(file(), {{"n", 1}}).ok());
  std::ofstream(file(), std::ios::app) << "not json\n";
  const auto records = read_json_lines(file());
  ASSERT_FALSE(records.ok());
  EXPECT_NE(records.error().message().find("line 2"), std::string::npos);
}

TEST_F(JsonLines, WhatCannotBeReadIsNotTakenForEmpty) {
  std::filesystem::create_directories(file());  // a folder in its place
  const auto records = read_json_lines(file());
  ASSERT_FALSE(records.ok());
  EXPECT_EQ(records.error().code(), ErrorCode::unavailable);
  EXPECT_FALSE(append_json_line(file(), {{"n", 1}}).ok());
}

}  // namespace
}  // namespace stripline::suites::results
