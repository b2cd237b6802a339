#include "optimizer/search/gaussian_process.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"

namespace stripline::search {
namespace {

// Smooth over two dimensions, of which one matters more.
double truth(double x, double y) { return std::sin(x) + 0.1 * y; }

TEST(GaussianProcess, PredictsBetweenObservations) {
  std::vector<Observation> seen;
  for (int x = 0; x <= 6; ++x) {
    for (int y = 0; y <= 4; y += 2) {
      seen.push_back({{double(x), double(y)}, truth(x, y), 1e-6});
    }
  }
  ASSERT_OK_AND_ASSIGN(const auto process, GaussianProcess::fit(seen));
  for (double x = 0.5; x < 6; x += 1) {
    const double place[] = {x, 1.0};
    const Prediction predicted = process.at(place);
    EXPECT_NEAR(predicted.mean, truth(x, 1), 0.08) << x;
    EXPECT_NEAR(predicted.mean, truth(x, 1), 4 * predicted.deviation + 1e-3) << x;
  }
  const double known[] = {3.0, 2.0};
  EXPECT_NEAR(process.at(known).mean, truth(3, 2), 0.01);
  EXPECT_LT(process.at(known).deviation, 0.05);
  const double far[] = {60.0, 2.0};
  EXPECT_GT(process.at(far).deviation, 3 * process.at(known).deviation);
}

// For many draws from what it takes for granted, the intervals hold as often as they say.
TEST(GaussianProcess, ItsIntervalsHold) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  int inside = 0;
  int all = 0;
  for (int draw = 0; draw < 200; ++draw) {
    const double phase = 3 * normal(random);
    const double slope = 0.3 * normal(random);
    const auto value = [&](double x) { return std::sin(x + phase) + slope * x; };
    std::vector<Observation> seen;
    for (int x = 0; x < 12; ++x) {
      seen.push_back({{0.6 * x}, value(0.6 * x) + 0.05 * normal(random), 0.0025});
    }
    ASSERT_OK_AND_ASSIGN(const auto process, GaussianProcess::fit(seen));
    for (double x = 0.3; x < 6.6; x += 0.6) {
      const double place[] = {x};
      const Prediction predicted = process.at(place);
      inside += std::abs(predicted.mean - value(x)) <= 1.96 * predicted.deviation ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GT(inside, 0.85 * all) << all;
}

TEST(GaussianProcess, OneDimensionMayNotVary) {
  const std::vector<Observation> seen = {{{1, 5}, 2, 0.01}, {{2, 5}, 3, 0.01}};
  ASSERT_OK_AND_ASSIGN(const auto process, GaussianProcess::fit(seen));
  const double place[] = {1.5, 5.0};
  EXPECT_NEAR(process.at(place).mean, 2.5, 0.1);
  ASSERT_OK_AND_ASSIGN(const auto single, GaussianProcess::fit(std::span(seen).first(1)));
  EXPECT_NEAR(single.at(place).mean, 2, 1e-6);
}

TEST(GaussianProcess, RefusesWhatIsNoObservation) {
  EXPECT_FALSE(GaussianProcess::fit({}).ok());
  const std::vector<Observation> wrong = {{{1}, std::numeric_limits<double>::infinity(), 0}};
  EXPECT_FALSE(GaussianProcess::fit(wrong).ok());
  EXPECT_FALSE(
      GaussianProcess::fit(std::vector<Observation>(kMostObservations + 1, {{1}, 1, 1})).ok());
}

TEST(ExpectedRegret, IsThatOfTheLesserChoice) {
  EXPECT_EQ(expected_regret(1, 0), 0);
  EXPECT_NEAR(expected_regret(0, 1), 0.3989, 1e-4);  // E max(0, z)
  EXPECT_NEAR(expected_regret(1, 1), 0.0833, 1e-4);
  EXPECT_LT(expected_regret(10, 1), 1e-12);
}

}  // namespace
}  // namespace stripline::search
