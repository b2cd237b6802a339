#include "suites/harness/paired_regret.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::suites {
namespace {

TEST(PairedRegret, IsTheRatioToTheBestMethod) {
  const std::vector<std::vector<double>> logs = {{1.2, 1.3, 1.2, 1.3}, {1.0, 1.1, 1.0, 1.1}};
  const auto regret = paired_regret(logs, 0);
  ASSERT_TRUE(regret);
  EXPECT_EQ(regret->best, 1U);
  EXPECT_NEAR(regret->value, 0.2, 1e-12);
  EXPECT_NEAR(regret->low, 0.2, 1e-9);
  EXPECT_NEAR(regret->high, 0.2, 1e-9);
}

TEST(PairedRegret, OfTheBestMethodIsNothing) {
  const auto regret = paired_regret({{1.0, 1.1}, {2.0, 2.1}}, 0);
  ASSERT_TRUE(regret);
  EXPECT_EQ(regret->best, 0U);
  EXPECT_EQ(regret->value, 0);
}

// A method that is fast in every other run by luck is compared where it is not.
TEST(PairedRegret, LuckDoesNotCountTwice) {
  const auto regret = paired_regret({{1, 1, 1, 1}, {0.5, 1.5, 0.5, 1.5}}, 0);
  ASSERT_TRUE(regret);
  EXPECT_LT(regret->value, 0);
}

TEST(PairedRegret, NeedsTwoRuns) { EXPECT_FALSE(paired_regret({{1}, {2}}, 0)); }

}  // namespace
}  // namespace stripline::suites
