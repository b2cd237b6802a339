#include "optimizer/stats/estimate.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/stats/order.h"

namespace stripline::stats {
namespace {

Estimate estimate(double value, double half, std::size_t runs = 12) {
  return {value, {value - half, value + half}, runs};
}

TEST(CompareEstimates, SaysWhichIsLessWhereTheIntervalOfTheDifferenceIsOnOneSide) {
  EXPECT_EQ(compare_estimates(estimate(8, 0.5), estimate(10, 0.5)).verdict, Verdict::faster);
  EXPECT_EQ(compare_estimates(estimate(10, 0.5), estimate(8, 0.5)).verdict, Verdict::slower);
  EXPECT_EQ(compare_estimates(estimate(9, 2), estimate(10, 2)).verdict, Verdict::inconclusive);
}

TEST(CompareEstimates, IntervalsThatOverlapALittleStillDiffer) {
  // sqrt(1 + 1) is less than 1 + 1.
  const auto comparison = compare_estimates(estimate(8.3, 1), estimate(10, 1));
  EXPECT_EQ(comparison.verdict, Verdict::faster);
  EXPECT_NEAR(comparison.difference.low, -1.7 - std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(comparison.difference.high, -1.7 + std::sqrt(2.0), 1e-12);
}

TEST(CompareEstimates, WithinTheMarginIsEquivalentAlsoWhereItSurelyDiffers) {
  EXPECT_EQ(compare_estimates(estimate(10.1, 0.01), estimate(10, 0.01)).verdict,
            Verdict::equivalent);
  EXPECT_EQ(compare_estimates(estimate(10.1, 0.01), estimate(10, 0.01), 0.005).verdict,
            Verdict::slower);
  EXPECT_EQ(compare_estimates(estimate(0, 0), estimate(0, 0)).verdict, Verdict::equivalent);
}

TEST(CompareEstimates, AsymmetricIntervalsCountOnTheSideThatTheyFace) {
  const Estimate skewed{10, {9.9, 14}, 12};
  EXPECT_EQ(compare_estimates(estimate(9, 0.1), skewed).verdict, Verdict::faster);
  EXPECT_EQ(compare_estimates(estimate(11, 0.1), skewed).verdict, Verdict::inconclusive);
}

TEST(CompareEstimates, TheValueOfNoWidthAndNoDifferenceIsOne) {
  EXPECT_EQ(compare_estimates(estimate(3, 0), estimate(3, 0)).p_value, 1);
  EXPECT_EQ(compare_estimates(estimate(3, 0), estimate(4, 0)).p_value, 0);
  EXPECT_EQ(compare_estimates(estimate(3, 0), estimate(4, 0)).verdict, Verdict::faster);
}

TEST(FalseDiscoveries, AreFewAmongManyEquals) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(100, 5);
  const auto measured = [&] {
    std::vector<double> runs(12);
    for (double& run : runs) run = noise(random);
    const Interval interval = *mean_interval(runs, 0.95);
    return Estimate{mean_and_variance(runs).mean, interval, runs.size()};
  };
  std::vector<EstimateComparison> all(400);
  for (auto& one : all) one = compare_estimates(measured(), measured());
  const auto differing = [&] {
    return std::ranges::count_if(all, [](const auto& one) {
      return one.verdict == Verdict::faster || one.verdict == Verdict::slower;
    });
  };
  EXPECT_GT(differing(), 5) << "about one in twenty, uncontrolled";
  control_false_discoveries(all);
  EXPECT_LE(differing(), 1);
}

TEST(FalseDiscoveries, WhatTrulyDiffersStays) {
  std::vector<EstimateComparison> all;
  for (int i = 0; i < 50; ++i) all.push_back(compare_estimates(estimate(10, 0.5), estimate(10, 1)));
  all.push_back(compare_estimates(estimate(5, 0.1), estimate(10, 0.1)));
  control_false_discoveries(all);
  EXPECT_EQ(all.back().verdict, Verdict::faster);
  std::vector<EstimateComparison> none;
  control_false_discoveries(none);
}

}  // namespace
}  // namespace stripline::stats
