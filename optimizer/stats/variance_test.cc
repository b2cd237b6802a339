#include "optimizer/stats/variance.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "base/testing/test_size.h"

namespace stripline::stats {
namespace {

// Snedecor and Cochran's turnip leaves (calcium, four leaves, four determinations): within 0.0066,
// between 0.0724.
TEST(NestedVariance, MatchesTextbookExample) {
  const Runs leaves{{3.28, 3.09, 3.03, 3.03},
                    {3.52, 3.48, 3.38, 3.38},
                    {2.88, 2.80, 2.81, 2.76},
                    {3.34, 3.38, 3.23, 3.26}};
  ASSERT_OK_AND_ASSIGN(const auto result, nested_variance(leaves));
  EXPECT_NEAR(result.within, 0.0066, 0.00005);
  EXPECT_NEAR(result.between, 0.0724, 0.00005);
  EXPECT_NEAR(result.icc, 0.916, 0.001);
}

TEST(NestedVariance, RecoversComponentsWithUnequalRuns) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  Runs runs;
  for (int r = 0; r < 3000; ++r) {
    const double shift = 3.0 * normal(random);
    runs.emplace_back();
    for (int i = 0; i < 3 + r % 5; ++i) runs.back().push_back(100 + shift + 5.0 * normal(random));
  }
  ASSERT_OK_AND_ASSIGN(const auto result, nested_variance(runs));
  EXPECT_NEAR(std::sqrt(result.between), 3.0, 0.15);
  EXPECT_NEAR(std::sqrt(result.within), 5.0, 0.1);
}

TEST(NestedVariance, NegativeEstimateIsZeroAndErrorsAreTold) {
  ASSERT_OK_AND_ASSIGN(const auto same, nested_variance({{1, 3}, {1, 3}, {1, 3}}));
  EXPECT_EQ(same.between, 0.0);
  EXPECT_EQ(nested_variance({{1, 2, 3}}).error().code(), ErrorCode::failed_precondition);
  EXPECT_EQ(nested_variance({{1}, {2}}).error().code(), ErrorCode::failed_precondition);
  EXPECT_EQ(nested_variance({{1, std::numeric_limits<double>::infinity()}, {2, 3}}).error().code(),
            ErrorCode::invalid_argument);
}

TEST(Dependence, TellsWhiteNoiseFromAutoregression) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  std::vector<double> white(2000);
  std::vector<double> wandering(2000);
  double previous = 0.0;
  for (std::size_t i = 0; i < white.size(); ++i) {
    white[i] = normal(random);
    previous = 0.8 * previous + normal(random);
    wandering[i] = previous;
  }
  EXPECT_FALSE(lag1_dependence(white).significant);
  const Dependence dependence = lag1_dependence(wandering);
  EXPECT_TRUE(dependence.significant);
  EXPECT_NEAR(dependence.rho1, 0.8, 0.05);
  EXPECT_GE(dependence.batch_size, 4U);
  EXPECT_EQ(lag1_dependence(std::vector<double>(50, 2.0)).rho1, 0.0);
}

TEST(Batches, LastOneTakesTheRest) {
  const auto batches = batch_medians(std::vector<double>{1, 2, 3, 4, 5, 6, 100}, 3);
  EXPECT_EQ(batches, (std::vector<double>{2.0, 5.5}));
  EXPECT_EQ(batch_medians(std::vector<double>{1, 2}, 5), (std::vector<double>{1.5}));
  EXPECT_TRUE(batch_medians({}, 5).empty());
}

TEST(TheilSen, IgnoresOutliersAndSeesDrift) {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 40; ++i) {
    x.push_back(i);
    y.push_back(5.0 + 0.25 * i + (i % 7 == 3 ? 40.0 : 0.0));
  }
  ASSERT_OK_AND_ASSIGN(const auto drift, theil_sen(x, y));
  EXPECT_NEAR(drift.slope, 0.25, 0.02);
  EXPECT_NEAR(drift.intercept, 5.0, 0.5);
  EXPECT_TRUE(drift.significant);
  EXPECT_TRUE(drift.slope_interval.contains(0.25));
}

TEST(TheilSen, FalseAlarmsAreAsRareAsStated) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal;
  int alarms = 0;
  for (int trial = 0; trial < cases_here(500); ++trial) {
    std::vector<double> x;
    std::vector<double> y;
    for (int i = 0; i < 30; ++i) {
      x.push_back(i);
      y.push_back(normal(random));
    }
    alarms += theil_sen(x, y)->significant ? 1 : 0;
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_GE(alarms, 8);
  EXPECT_LE(alarms, 42);
}

TEST(TheilSen, TheIntervalOfTheNegativeIsTheNegative) {
  std::mt19937_64 random(19);
  std::normal_distribution<double> normal;
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> minus_y;
  for (int i = 0; i < 12; ++i) {
    x.push_back(i);
    y.push_back(normal(random));
    minus_y.push_back(-y.back());
  }
  const auto drift = theil_sen(x, y);
  const auto mirrored = theil_sen(x, minus_y);
  ASSERT_TRUE(drift.ok() && mirrored.ok());
  EXPECT_EQ(drift->slope_interval.low, -mirrored->slope_interval.high);
  EXPECT_EQ(drift->slope_interval.high, -mirrored->slope_interval.low);
}

TEST(TheilSen, AFewPointsInOrderAreNoDrift) {
  // One of three orders of three points is monotonic: nothing to be 95% sure of.
  ASSERT_OK_AND_ASSIGN(const auto three,
                       theil_sen(std::vector{1.0, 2.0, 3.0}, std::vector{1.0, 2.0, 4.0}));
  EXPECT_FALSE(three.significant);
  EXPECT_TRUE(std::isinf(three.slope_interval.low));
  ASSERT_OK_AND_ASSIGN(const auto six, theil_sen(std::vector{1.0, 2.0, 3.0, 4.0, 5.0, 6.0},
                                                 std::vector{1.0, 2.0, 4.0, 5.0, 7.0, 8.0}));
  EXPECT_TRUE(six.significant);
}

TEST(TheilSen, LongSeriesAndErrors) {
  std::vector<double> x(20000);
  std::vector<double> y(20000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<double>(i);
    y[i] = 3.0 * x[i];
  }
  EXPECT_NEAR(theil_sen(x, y)->slope, 3.0, 1e-9);
  EXPECT_FALSE(theil_sen(std::vector{1.0, 2.0}, std::vector{1.0, 2.0}).ok());
  EXPECT_FALSE(theil_sen(std::vector(5, 1.0), std::vector{1.0, 2.0, 3.0, 4.0, 5.0}).ok());
  EXPECT_FALSE(theil_sen(std::vector{1.0, 2.0, 3.0}, std::vector{1.0, 2.0}).ok());
  EXPECT_EQ(theil_sen(x, y, 1.0).error().code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stripline::stats
