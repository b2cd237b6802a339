#include "optimizer/stats/compare.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "base/testing/test_size.h"
#include "optimizer/stats/order.h"

namespace stripline::stats {
namespace {

struct Pairs {
  std::vector<double> candidate;
  std::vector<double> baseline;
};

// Runs share a placement effect of 20% which pairing removes; each side has its own noise.
Pairs simulate(std::mt19937_64& random, double ratio, std::size_t runs, double noise) {
  std::normal_distribution<double> normal;
  Pairs pairs;
  for (std::size_t i = 0; i < runs; ++i) {
    const double placement = std::exp(0.2 * normal(random));
    pairs.baseline.push_back(placement * std::exp(noise * normal(random)));
    pairs.candidate.push_back(ratio * placement * std::exp(noise * normal(random)));
  }
  return pairs;
}

TEST(UnpairedRatio, IsWelchsOnTheLogarithms) {
  const std::vector<double> ours = {1.1, 1.2, 1.3};
  const std::vector<double> theirs = {2.0, 2.1, 2.3, 2.2};
  ASSERT_OK_AND_ASSIGN(const auto both, unpaired_ratio(ours, theirs));
  // By an independent computation.
  EXPECT_NEAR(both.ratio.value, 0.557600, 1e-5);
  EXPECT_NEAR(both.ratio.interval.low, 0.471821, 1e-5);
  EXPECT_NEAR(both.ratio.interval.high, 0.658973, 1e-5);
  EXPECT_NEAR(both.p_value, 0.000971, 1e-6);
  EXPECT_EQ(both.ratio.runs, 3U);
}

TEST(UnpairedRatio, OfWhatDoesNotVaryIsKnown) {
  const std::vector<double> two = {2, 2};
  const std::vector<double> four = {4, 4, 4};
  EXPECT_EQ(unpaired_ratio(two, two)->p_value, 1);
  EXPECT_EQ(unpaired_ratio(four, two)->p_value, 0);
  EXPECT_DOUBLE_EQ(unpaired_ratio(four, two)->ratio.interval.low, 2);
}

TEST(UnpairedRatio, NeedsTwoRunsAndTimes) {
  const std::vector<double> one = {1};
  const std::vector<double> two = {1, 2};
  const std::vector<double> none = {0, 1};
  EXPECT_FALSE(unpaired_ratio(one, two).ok());
  EXPECT_FALSE(unpaired_ratio(two, one).ok());
  EXPECT_FALSE(unpaired_ratio(two, none).ok());
}

TEST(PairedRatio, ExactWhenConstantAndSymmetric) {
  const std::vector<double> a{2.0, 4.0, 6.0};
  const std::vector<double> b{1.0, 2.0, 3.0};
  ASSERT_OK_AND_ASSIGN(const auto forward, paired_ratio(a, b));
  EXPECT_DOUBLE_EQ(forward.value, 2.0);
  EXPECT_NEAR(forward.interval.low, 2.0, 1e-12);
  EXPECT_EQ(forward.runs, 3U);
  const std::vector<double> c{1.5, 1.9, 3.5};
  EXPECT_NEAR(paired_ratio(c, b)->interval.low, 1.0 / paired_ratio(b, c)->interval.high, 1e-12);
}

TEST(PairedRatio, CoversAndIsNarrowerThanItsTimesSpread) {
  std::mt19937_64 random(41);
  int paired = 0;
  double paired_width = 0.0;
  double spread = 0.0;
  constexpr int kTrials = cases_here(1000);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Pairs pairs = simulate(random, 0.9, 8, 0.03);
    const auto with = paired_ratio(pairs.candidate, pairs.baseline);
    const auto alone = mean_interval(pairs.candidate, 0.95);
    ASSERT_TRUE(with.ok() && alone.ok());
    paired += with->interval.contains(0.9) ? 1 : 0;
    paired_width += with->interval.half_width();
    spread += alone->half_width() / mean_and_variance(pairs.candidate).mean;
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_NEAR(static_cast<double>(paired) / kTrials, 0.95, 0.02);
  // What the runs share, which is most of their noise, does not widen it.
  EXPECT_LT(2.0 * paired_width, spread);
}

TEST(NonInferiorityVerdict, ThreeOutcomes) {
  const std::vector<double> baseline{1.00, 1.10, 0.90, 1.05, 0.95, 1.00};
  const auto scaled = [&](double ratio, double jitter) {
    std::vector<double> times;
    for (std::size_t i = 0; i < baseline.size(); ++i) {
      times.push_back(baseline[i] * ratio * (i % 2 == 0 ? 1.0 + jitter : 1.0 - jitter));
    }
    return times;
  };
  EXPECT_EQ(non_inferiority(scaled(0.99, 0.005), baseline)->verdict, NonInferiority::non_inferior);
  EXPECT_EQ(non_inferiority(scaled(1.01, 0.004), baseline)->verdict, NonInferiority::non_inferior);
  EXPECT_EQ(non_inferiority(scaled(1.10, 0.010), baseline)->verdict, NonInferiority::inferior);
  EXPECT_EQ(non_inferiority(scaled(1.01, 0.100), baseline)->verdict, NonInferiority::inconclusive);
  EXPECT_EQ(non_inferiority(std::vector{0.5}, std::vector{1.0})->verdict,
            NonInferiority::inconclusive);
}

TEST(NonInferiorityVerdict, ErrsAsOftenAsStated) {
  std::mt19937_64 random(47);
  int accepted = 0;
  int rejected = 0;
  constexpr int kTrials = cases_here(2000);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Pairs pairs = simulate(random, 1.02, 8, 0.03);  // Exactly at the margin.
    const auto verdict = non_inferiority(pairs.candidate, pairs.baseline)->verdict;
    accepted += verdict == NonInferiority::non_inferior ? 1 : 0;
    rejected += verdict == NonInferiority::inferior ? 1 : 0;
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_NEAR(static_cast<double>(accepted) / kTrials, 0.05, 0.015);
  EXPECT_NEAR(static_cast<double>(rejected) / kTrials, 0.05, 0.015);
}

TEST(GeometricMeanOverCells, KnownValueAndBounds) {
  const double up = std::log(2.0);
  ASSERT_OK_AND_ASSIGN(const auto mean, geometric_mean({{up, up}, {-up, -up}, {up, up}}));
  EXPECT_NEAR(mean.value, std::exp(up / 3.0), 1e-12);
  EXPECT_EQ(mean.lower, mean.value);
  EXPECT_EQ(mean.upper, mean.value);
  EXPECT_EQ(mean.cells, 3U);
  // One cell reduces to the one-sided t bound: mean 0.2, s = 0.1, n = 3, t(0.95, 2) = 2.919986.
  const auto one = geometric_mean({{0.1, 0.2, 0.3}});
  EXPECT_NEAR(std::log(one->upper), 0.2 + 2.919986 * 0.1 / std::sqrt(3.0), 1e-6);
}

TEST(GeometricMeanOverCells, RunsThatAgreeToTheLastBitHaveABound) {
  ASSERT_OK_AND_ASSIGN(const auto mean, geometric_mean({{1e-160, 2e-160, 3e-160}, {0.0, 0.0}}));
  EXPECT_EQ(mean.upper, 1.0);
}

TEST(GeometricMeanOverCells, UpperBoundHoldsAtItsLevel) {
  std::mt19937_64 random(59);
  std::normal_distribution<double> normal;
  int above = 0;
  constexpr int kTrials = cases_here(1000);
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<std::vector<double>> cells;
    for (int c = 0; c < 12; ++c) {
      cells.emplace_back();
      for (int r = 0; r < 6; ++r)
        cells.back().push_back(0.01 * c + 0.01 * (1 + c) * normal(random));
    }
    above += std::log(geometric_mean(cells)->upper) >= 0.055 ? 1 : 0;
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_NEAR(static_cast<double>(above) / kTrials, 0.95, 0.02);
}

TEST(Compare, RefusesBadInput) {
  const std::vector<double> two{1.0, 2.0};
  EXPECT_FALSE(paired_ratio(two, std::vector{1.0}).ok());
  EXPECT_FALSE(paired_ratio({}, {}).ok());
  EXPECT_FALSE(paired_ratio(std::vector{0.0, 1.0}, two).ok());
  EXPECT_FALSE(paired_ratio(two, std::vector{1.0, std::numeric_limits<double>::infinity()}).ok());
  EXPECT_FALSE(non_inferiority(two, two, -0.1).ok());
  EXPECT_FALSE(geometric_mean({}).ok());
  EXPECT_FALSE(geometric_mean({{0.1}}).ok());
}

}  // namespace
}  // namespace stripline::stats
