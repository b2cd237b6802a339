#include "suites/compare/row_table.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::suites::compare {
namespace {

RowTimes row(const char* name, const std::vector<double>& first_s,
             const std::vector<double>& second_s) {
  return {.name = name,
          .metric = "latency",
          .amount = 1,
          .most = 1.05,
          .baseline = "bare",
          .first_s = first_s,
          .second_s = second_s,
          .verified = true};
}

TEST(RowTable, RowsComeBackFromJsonAsTheyWere) {
  const std::vector<RowTimes> rows = {row("get", {1e-6, 1.1e-6}, {9e-7, 1e-6}),
                                      row("put", {2e-6}, {3e-6})};
  const auto back = rows_from_json(to_json(rows));
  ASSERT_TRUE(back.ok()) << back.error().message();
  ASSERT_EQ(back->size(), 2U);
  EXPECT_EQ((*back)[0].name, "get");
  EXPECT_EQ((*back)[0].first_s, rows[0].first_s);
  EXPECT_EQ((*back)[1].second_s, rows[1].second_s);
  EXPECT_EQ((*back)[0].most, 1.05);
  EXPECT_FALSE(rows_from_json(Json{{{"name", "get"}}}).ok());
}

TEST(RowTable, OneLaunchIsItself) {
  const auto merged = merge_launches({{row("get", {1e-6, 2e-6}, {1e-6, 1e-6})}});
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ((*merged)[0].first_s.size(), 2U);
  EXPECT_TRUE((*merged)[0].launch_ratios.empty());
}

// One launch in which a connection was slow moves a mean by more than what is looked for.
TEST(RowTable, LaunchesCountOnceEachAndTheMedianOfThemDecides) {
  std::vector<std::vector<RowTimes>> launches;
  for (const double ratio : {1.0, 1.01, 1.02, 1.03, 1.04, 1.02, 4.0}) {
    launches.push_back(
        {row("get", {ratio * 1e-6, ratio * 1e-6, ratio * 1e-6}, {1e-6, 1e-6, 1e-6})});
  }
  const auto merged = merge_launches(launches);
  ASSERT_TRUE(merged.ok());
  ASSERT_EQ((*merged)[0].launch_ratios.size(), 7U);
  const auto table = row_table(*merged, true);
  ASSERT_TRUE(table.ok());
  EXPECT_NE(table->find("| 1.020 |"), std::string::npos) << *table;
  EXPECT_NE(table->find("at most 1.050: met"), std::string::npos) << *table;
  EXPECT_EQ((*merged)[0].second_s.size(), 7U);

  launches.resize(2);  // too few for an interval
  EXPECT_NE(row_table(*merge_launches(launches), true)->find("| – |"), std::string::npos);
}

TEST(RowTable, WhatWasWrongInOneLaunchIsWrong) {
  RowTimes wrong = row("get", {1e-6, 1e-6}, {1e-6, 1e-6});
  wrong.verified = false;
  const RowTimes right = row("get", {1e-6, 1e-6}, {1e-6, 1e-6});
  EXPECT_FALSE((*merge_launches({{right}, {wrong}}))[0].verified);
  EXPECT_FALSE(merge_launches({{right}, {row("put", {1e-6, 1e-6}, {1e-6, 1e-6})}}).ok());
}

}  // namespace
}  // namespace stripline::suites::compare
