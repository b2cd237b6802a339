#include "suites/results/kept_records.h"

#include <string>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "base/testing/processes.h"

namespace stripline::suites::results {
namespace {

struct Measured {
  std::string name;
  int64_t value = 0;
};

Json to_json(const Measured& measured) {
  return {{"name", measured.name}, {"value", measured.value}};
}

Result<Measured> measured_from_json(const Json& json) {
  Measured measured;
  STRIPLINE_ASSIGN_OR_RETURN(measured.name, get_string(json, "name", "test"));
  STRIPLINE_ASSIGN_OR_RETURN(measured.value, get_integer(json, "value", "test"));
  return measured;
}

using Kept = KeptRecords<Measured, &Measured::name>;

TEST(KeptRecords, AreMeasuredOnce) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "kept.jsonl";
  int measured = 0;
  const auto measure = [&]() -> Result<Measured> { return Measured{"a", ++measured}; };
  for (int command = 0; command < 2; ++command) {
    ASSERT_OK_AND_ASSIGN(auto kept, Kept::open(file, measured_from_json));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(kept.get("a", measure)->value, 1);
  }
  EXPECT_EQ(measured, 1);
}

TEST(KeptRecords, WhatFailedIsNotKept) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "kept.jsonl";
  ASSERT_OK_AND_ASSIGN(auto kept, Kept::open(file, measured_from_json));
  const auto fail = []() -> Result<Measured> { return Error(ErrorCode::unavailable, "no rank"); };
  EXPECT_FALSE(kept.get("a", fail).ok());
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(kept.get("a", []() -> Result<Measured> { return Measured{"a", 5}; })->value, 5);
}

TEST(KeptRecords, OfTwoTheLastOneCountsAndDamageIsAnError) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "kept.jsonl";
  ASSERT_TRUE(append_json_line(file, to_json(Measured{"a", 1})).ok());
  ASSERT_TRUE(append_json_line(file, to_json(Measured{"a", 2})).ok());
  ASSERT_OK_AND_ASSIGN(auto kept, Kept::open(file, measured_from_json));
  const auto never = []() -> Result<Measured> { return Error(ErrorCode::internal, "measured"); };
  EXPECT_EQ(kept.get("a", never)->value, 2);
  ASSERT_TRUE(append_json_line(file, Json{{"name", "b"}}).ok());
  EXPECT_FALSE(Kept::open(file, measured_from_json).ok());
}

}  // namespace
}  // namespace stripline::suites::results
