#include "optimizer/stats/stopping.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/test_size.h"
#include "optimizer/stats/interval.h"

namespace stripline::stats {
namespace {

using experiment::StopReason;
using experiment::StopRule;

TEST(Stopping, ChecksAtGeometricSizes) {
  const StopRule rule{.min_reps = 8, .max_reps = 50};
  std::vector<std::size_t> sizes;
  for (std::size_t n = 0; n < rule.max_reps;) {
    n = next_check(rule, n);
    sizes.push_back(n);
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{8, 12, 18, 27, 41, 50}));
  EXPECT_EQ(next_check(StopRule{.min_reps = 0, .max_reps = 5}, 0), 1U);
}

TEST(Stopping, GivesEveryReason) {
  const StopRule rule{
      .min_reps = 6, .max_reps = 10, .relative_half_width = 0.05, .time_budget_s = 1.0};
  const std::vector<double> tight(6, 3.0);
  const std::vector<double> wide{1, 9, 2, 8, 3, 7, 4, 6, 5, 10};
  const auto reason = [&](std::span<const double> samples, double elapsed, bool cancelled) {
    return check_repetitions(rule, samples, elapsed, cancelled)->reason;
  };
  EXPECT_EQ(reason(tight, 0.0, false), StopReason::converged);
  EXPECT_EQ(reason(tight, 0.0, true), StopReason::cancelled);
  EXPECT_EQ(reason(wide, 0.0, false), StopReason::max_reps);
  EXPECT_EQ(reason(std::span(wide).first(7), 1.0, false), StopReason::time_budget);
  EXPECT_EQ(reason(std::span(wide).first(7), 0.5, false), std::nullopt);
  EXPECT_EQ(reason({}, 0.0, false), std::nullopt);
}

TEST(Stopping, TooFewSamplesNeverConverge) {
  const StopRule rule{.min_reps = 1, .max_reps = 100, .relative_half_width = 0.5};
  const auto check = check_repetitions(rule, std::vector<double>(5, 1.0), 0.0, false);
  ASSERT_TRUE(check.ok());
  EXPECT_FALSE(check->reason.has_value());
  EXPECT_TRUE(std::isinf(check->relative_half_width));
}

TEST(Stopping, ReportsTheAchievedWidth) {
  const StopRule rule{.min_reps = 8, .max_reps = 100, .relative_half_width = 0.001};
  const auto check =
      check_repetitions(rule, std::vector<double>{9, 11, 10, 9, 11, 10, 9, 11}, 0.0, false);
  ASSERT_TRUE(check.ok());
  EXPECT_DOUBLE_EQ(check->relative_half_width, 0.1);
}

// A difference of two times may be nothing, which no interval is narrow beside.
TEST(Stopping, WhatIsNearlyNothingConvergesBesideWhatMatters) {
  const StopRule rule{.min_reps = 8, .max_reps = 100, .relative_half_width = 0.02};
  const std::vector<double> around_zero{-1, 1, 0, -1, 1, 0, -1, 1};
  EXPECT_EQ(check_repetitions(rule, around_zero, 0.0, false)->reason, std::nullopt);
  EXPECT_EQ(check_repetitions(rule, around_zero, 0.0, false, 40.0)->reason, std::nullopt);
  const auto beside = check_repetitions(rule, around_zero, 0.0, false, 100.0);
  EXPECT_EQ(beside->reason, StopReason::converged);
  EXPECT_DOUBLE_EQ(beside->relative_half_width, 0.01);
  // What is larger is judged by itself.
  const std::vector<double> large{-900, -1100, -1000, -900, -1100, -1000, -900, -1100};
  EXPECT_DOUBLE_EQ(check_repetitions(rule, large, 0.0, false, 100.0)->relative_half_width, 0.1);
}

TEST(Stopping, AWanderingSeriesNeedsMoreSamples) {
  std::vector<double> wandering;
  std::vector<double> mixed;
  for (int i = 0; i < 100; ++i) wandering.push_back(10.0 + std::sin(i / 10.0));
  for (std::size_t i = 0; i < 100; ++i) mixed.push_back(wandering[i * 37 % 100]);
  const StopRule rule{.min_reps = 8, .max_reps = 1000, .relative_half_width = 0.0};
  const auto of_wandering = check_repetitions(rule, wandering, 0.0, false);
  const auto of_mixed = check_repetitions(rule, mixed, 0.0, false);
  ASSERT_TRUE(of_wandering.ok() && of_mixed.ok());
  EXPECT_GT(of_wandering->relative_half_width, 1.5 * of_mixed->relative_half_width);
}

// Lognormal noise, s = 0.25, with 2% of spikes of ten times, eps 5%. Stopping at geometric sizes
// keeps coverage near 95%.
TEST(Stopping, KeepsCoverage) {
  std::mt19937_64 random(23);
  std::lognormal_distribution<double> noise(0.0, 0.25);
  std::uniform_real_distribution<double> uniform;
  const StopRule rule{
      .min_reps = 8, .max_reps = 5000, .relative_half_width = 0.05, .time_budget_s = 1e9};
  constexpr int kTrials = cases_here(600);
  // Median of the mixture: P(X <= m) = 1/2, where only 98% can lie below.
  const double truth = std::exp(0.25 * 0.02557);
  int hits = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> samples;
    StopCheck check;
    while (!check.reason) {
      const std::size_t target = next_check(rule, samples.size());
      while (samples.size() < target) {
        samples.push_back(noise(random) * (uniform(random) < 0.02 ? 10.0 : 1.0));
      }
      check = *check_repetitions(rule, samples, 0.0, false);
    }
    EXPECT_EQ(check.reason, StopReason::converged);
    hits += median_interval(samples, 0.95)->contains(truth) ? 1 : 0;
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_GE(static_cast<double>(hits) / kTrials, 0.925);
}

TEST(Stopping, RefusesContradictoryRulesAndNan) {
  EXPECT_FALSE(check_repetitions(StopRule{.min_reps = 9, .max_reps = 8}, {}, 0.0, false).ok());
  EXPECT_FALSE(check_repetitions(StopRule{.confidence = 1.5}, {}, 0.0, false).ok());
  EXPECT_FALSE(check_repetitions(StopRule{.relative_half_width = -1.0}, {}, 0.0, false).ok());
  const std::vector<double> bad(9, std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(check_repetitions(StopRule{}, bad, 0.0, false).ok());
}

}  // namespace
}  // namespace stripline::stats
