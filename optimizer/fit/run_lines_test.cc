#include "optimizer/fit/run_lines.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "optimizer/fit/over_runs.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

SizeCurve line_curve(double intercept, double slope, uint32_t runs) {
  SizeCurve curve;
  for (uint64_t bytes = 8; bytes <= 65536; bytes *= 2) {
    for (uint32_t run = 0; run < runs; ++run) {
      const double scale = 1.0 + 0.01 * run;
      curve[bytes][run] = scale * (intercept + slope * static_cast<double>(bytes));
    }
  }
  return curve;
}

TEST(RunLines, OneLinePerRun) {
  const SizeCurve curve = line_curve(2e-6, 1e-9, 3);
  const RunLines lines = fit_run_lines(curve, curve, false);
  ASSERT_EQ(lines.used.size(), 3U);
  EXPECT_NEAR(lines.used.at(2).intercept, 1.02 * 2e-6, 1e-14);
  EXPECT_NEAR(lines.free_slopes[1], 1.01e-9, 1e-17);
}

TEST(RunLines, ANegativeSlopeIsRefittedAsConstant) {
  const SizeCurve curve = line_curve(2e-6, -1e-12, 4);
  const RunLines lines = fit_run_lines(curve, curve, true);
  EXPECT_LT(lines.free_slopes[0], 0.0);
  EXPECT_EQ(lines.used.at(0).slope, 0.0);
  EXPECT_GT(lines.used.at(0).intercept, 1.9e-6);
  EXPECT_EQ(lines.free_intercepts.size(), 4U);
}

TEST(RunLines, OneSizeIsAConstantAndSparseRunsAreLeftOut) {
  const SizeCurve one{{64, {{0, 3.0}, {1, 4.0}}}};
  const RunLines constant = fit_run_lines(one, one, true);
  EXPECT_EQ(constant.free_intercepts, (std::vector<double>{3.0, 4.0}));
  EXPECT_TRUE(constant.free_slopes.empty());
  SizeCurve sparse = line_curve(1.0, 1.0, 2);
  sparse[8][7] = 9.0;
  EXPECT_EQ(fit_run_lines(sparse, sparse, true).used.size(), 2U);
  EXPECT_TRUE(fit_run_lines({}, {}, true).used.empty());
}

TEST(RunLines, ASizeThatIsClearlyNoisierCountsLess) {
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  double with_noisy = 0.0;
  for (int trial = 0; trial < 50; ++trial) {
    SizeCurve curve;
    for (uint64_t bytes = 8; bytes <= 65536; bytes *= 2) {
      const double noise = bytes == 8 ? 0.5 : 0.01;
      for (uint32_t run = 0; run < 12; ++run) {
        curve[bytes][run] =
            (1.0 + 1e-3 * static_cast<double>(bytes)) * (1.0 + noise * normal(random));
      }
    }
    const RunLines lines = fit_run_lines(curve, curve, false);
    with_noisy += stats::mean_and_variance(lines.free_intercepts).variance / 50.0;
  }
  // With equal relative weights the noisy size alone would give (0.5 / 5)^2 = 0.01 or so.
  EXPECT_LT(with_noisy, 0.002);
}

TEST(RunLines, WhatARunHasInCommonHidesNoNoisySize) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  SizeCurve curve;
  for (uint32_t run = 0; run < 12; ++run) {
    const double common = std::exp(0.1 * normal(random));
    for (uint64_t bytes = 8; bytes <= 65536; bytes *= 2) {
      const double noise = bytes == 65536 ? 0.1 : 0.01;
      curve[bytes][run] = common * std::exp(noise * normal(random));
    }
  }
  const auto weights = weights_of(curve);
  EXPECT_LT(weights.at(65536), 0.1 * weights.at(8));
  EXPECT_GT(weights.at(32768), 0.7 * weights.at(8));
}

TEST(RunLines, SubtractionAndSums) {
  const SizeCurve curve = line_curve(2.0, 0.5, 2);
  const RunLines lines = fit_run_lines(curve, curve, false);
  const SizeCurve rest = subtract(curve, lines);
  EXPECT_NEAR(rest.at(1024).at(1), 0.0, 1e-9);
  const RunLines twice = add(lines, lines);
  EXPECT_NEAR(twice.used.at(0).slope, 1.0, 1e-12);
  EXPECT_EQ(subtract(curve, {}), curve);
}

TEST(RunLines, InterpolatesMedians) {
  const SizeCurve curve{{100, {{0, 1.0}}}, {200, {{0, 3.0}}}};
  EXPECT_EQ(interpolate(curve, 50), 1.0);
  EXPECT_EQ(interpolate(curve, 150), 2.0);
  EXPECT_EQ(interpolate(curve, 200), 3.0);
  EXPECT_EQ(interpolate(curve, 900), 3.0);
}

TEST(LinearizeLogs, RemovesTheSkewOfLognormalNoise) {
  std::mt19937_64 random(6);
  std::lognormal_distribution<double> noise(0.0, 0.3);
  SizeCurve curve;
  for (uint32_t run = 0; run < 20000; ++run) curve[8][run] = noise(random);
  const auto mean = [&] {
    double sum = 0.0;
    for (const auto& [run, value] : curve[8]) sum += value / 20000.0;
    return sum;
  };
  EXPECT_GT(mean(), 1.03);
  linearize_logs(curve);
  EXPECT_NEAR(mean(), 1.0, 0.01);
}

TEST(LinearizeLogs, KeepsZeroAndNegativeValuesAndOrder) {
  SizeCurve curve{{8, {{0, -1.0}, {1, 0.0}, {2, 0.1}, {3, 0.6}, {4, 1.0}, {5, 2.0}, {6, 9.0}}}};
  linearize_logs(curve);
  const RunMedians& values = curve[8];
  EXPECT_EQ(values.at(0), -1.0);
  EXPECT_EQ(values.at(1), 0.0);
  for (uint32_t run = 1; run < 7; ++run) EXPECT_GT(values.at(run), values.at(run - 1));
}

TEST(OverRuns, TIntervalAndClipping) {
  const std::vector<double> estimates{1.0, 2.0, 3.0};
  const auto parameter = over_runs(estimates, 30, "m");
  ASSERT_TRUE(parameter.has_value());
  EXPECT_DOUBLE_EQ(parameter->value, 2.0);
  EXPECT_NEAR(parameter->ci_high, 2.0 + 4.302653 / std::sqrt(3.0), 1e-5);
  EXPECT_EQ(parameter->ci_low, 0.0);  // -0.48 unclipped.
  EXPECT_EQ(parameter->runs, 3U);
  EXPECT_EQ(parameter->samples, 30U);
  const auto negative = over_runs(std::vector{-3.0, -2.0, -2.5}, 3, "m");
  ASSERT_TRUE(negative.has_value());
  EXPECT_EQ(negative->value, 0.0);
  EXPECT_EQ(negative->ci_low, 0.0);
  EXPECT_EQ(negative->ci_high, 0.0);
}

TEST(OverRuns, AbsentWhereNothingCanBeSaid) {
  const std::vector<double> agreeing{2.0, 2.0, 2.0};
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(over_runs(agreeing, 3, "m", {.least_half_width = infinity}).has_value());
  EXPECT_FALSE(over_runs(std::vector{1e308, -1e308, 1e308}, 3, "m").has_value());
  EXPECT_FALSE(over_runs(agreeing, 3, "m", {.confidence = 1.0}).has_value());
}

TEST(OverRuns, IsAtLeastAsWideAsTheFitIsPoor) {
  const std::vector<double> agreeing{2.0, 2.0, 2.0};
  const auto parameter = over_runs(agreeing, 3, "m", {.least_half_width = 0.5});
  ASSERT_TRUE(parameter.has_value());
  EXPECT_DOUBLE_EQ(parameter->ci_low, 1.5);
  EXPECT_DOUBLE_EQ(parameter->ci_high, 2.5);
}

TEST(RunLines, LackOfFitShowsInTheResidualsOfTheMeans) {
  SizeCurve bent;
  for (uint64_t bytes = 8; bytes <= 65536; bytes *= 2) {
    const double wiggle = bytes % 3 == 1 ? 1.02 : 0.98;  // The same in every run.
    for (uint32_t run = 0; run < 6; ++run) {
      bent[bytes][run] = wiggle * (2e-6 + 1e-9 * static_cast<double>(bytes));
    }
  }
  const RunLines lines = fit_run_lines(bent, bent, true);
  EXPECT_EQ(stats::mean_and_variance(lines.free_intercepts).variance, 0.0);
  EXPECT_GT(std::sqrt(lines.intercept_misfit), 0.005e-6);
  EXPECT_EQ(lines.misfit_freedom, 12.0);
}

TEST(OverRuns, AbsentWithoutASecondRunOrWithNan) {
  EXPECT_FALSE(over_runs({}, 0, "m").has_value());
  EXPECT_FALSE(over_runs(std::vector{1.0}, 1, "m").has_value());
  EXPECT_FALSE(
      over_runs(std::vector{1.0, std::numeric_limits<double>::quiet_NaN()}, 2, "m").has_value());
}

}  // namespace
}  // namespace stripline::fit
