#include "optimizer/campaign/forecast.h"

#include <gtest/gtest.h>

namespace stripline::campaign {
namespace {

Rule rule() {
  Rule rule;
  rule.runs = 8;
  rule.least_points = 10;
  rule.core_points = 40;
  rule.all_points = 100;
  rule.time_budget_s = 60;
  rule.nodes = 4;
  return rule;
}

TEST(Forecast, CountsTheRunsThatTheRuleMakes) {
  const Forecast expected = forecast(rule(), {1, 0.01}, std::nullopt);
  EXPECT_EQ(expected.runs, 8U);
  EXPECT_EQ(expected.runs_of_all, 8U);
  EXPECT_EQ(expected.points, 800U);
  EXPECT_DOUBLE_EQ(expected.seconds, 16);
  EXPECT_DOUBLE_EQ(expected.node_s, 64);
  EXPECT_EQ(expected.reason, StopReason::max_runs);
  EXPECT_TRUE(expected.usable);
  EXPECT_EQ(expected.width, std::nullopt);
}

TEST(Forecast, FallsBackToCoarserGridsAsTheCampaignWill) {
  Rule slow = rule();
  slow.pilot = true;
  const Forecast expected = forecast(slow, {1, 0.1}, std::nullopt);
  EXPECT_EQ(expected.runs, 8U);
  EXPECT_EQ(expected.runs_of_all, 0U);
  // The whole plan has 60 points beyond the coarse grid of 40; three eighths of them fit.
  EXPECT_EQ(expected.points, 10U + 7 * 61);
}

TEST(Forecast, SaysThatABudgetIsTooSmall) {
  Rule tight = rule();
  tight.pilot = true;
  Forecast expected = forecast(tight, {1, 1.2}, std::nullopt);  // 13 s a run of the coarsest grid
  EXPECT_EQ(expected.runs, 4U);
  EXPECT_EQ(expected.reason, StopReason::time_budget);
  EXPECT_TRUE(expected.usable);  // provisional
  EXPECT_LE(expected.seconds, 60);
  expected = forecast(tight, {1, 5}, std::nullopt);
  EXPECT_EQ(expected.runs, 1U);
  EXPECT_FALSE(expected.usable);
  tight.node_budget_s = 40;
  EXPECT_EQ(forecast(tight, {1, 1.2}, std::nullopt).reason, StopReason::node_budget);
}

TEST(Forecast, EndsWhenTheWidthIsReached) {
  Rule wide = rule();
  wide.width = 0.05;
  const Forecast narrow = forecast(wide, {1, 0.01}, EarlierWidth{0.04, 8});
  EXPECT_EQ(narrow.runs, 6U);
  EXPECT_EQ(narrow.reason, StopReason::converged);
  EXPECT_NEAR(*narrow.width, 0.0462, 1e-3);
  const Forecast more = forecast(wide, {1, 0.01}, EarlierWidth{0.055, 8});
  EXPECT_EQ(more.runs, 10U);
  EXPECT_EQ(more.reason, StopReason::converged);
  const Forecast hopeless = forecast(wide, {1, 0.01}, EarlierWidth{0.5, 8});
  EXPECT_EQ(hopeless.runs, 8U);
  EXPECT_EQ(hopeless.reason, StopReason::max_runs);
  EXPECT_NEAR(*hopeless.width, 0.5, 1e-9);
}

}  // namespace
}  // namespace stripline::campaign
