#include "optimizer/fit/stragglers.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace stripline::fit {
namespace {

constexpr double kLatency_s = 100e-6;

// By how much the mean time of simulated streams exceeds one without scatter.
double simulated_s(double scatter, int operations, double each_s) {
  constexpr int kStreams = 20000;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0.0, scatter);
  double sum = 0.0;
  for (int stream = 0; stream < kStreams; ++stream) {
    double end_s = 0.0;
    for (int i = 0; i < operations; ++i) {
      end_s = std::max(end_s, i * each_s + kLatency_s * std::exp(normal(random)));
    }
    sum += end_s - (operations - 1) * each_s - kLatency_s;
  }
  return sum / kStreams;
}

TEST(Stragglers, AsManyAsCompeteAreAsLateAsSimulated) {
  for (const double scatter : {0.05, 0.15, 0.3}) {
    for (const int operations : {8, 64, 256}) {
      const double expected = simulated_s(scatter, operations, 1e-9);
      EXPECT_NEAR(straggling_s({kLatency_s, scatter, 0.0, 1e9}, operations, 1e-9), expected,
                  0.1 * expected)
          << scatter << ", " << operations;
    }
  }
}

TEST(Stragglers, LongBeforeTheLastOneNoneIsTheLatest) {
  // 64 operations take much longer than latencies differ: with the last one only a few compete.
  const double late_s = straggling_s({kLatency_s, 0.1, 0.0, 1e9}, 64, 20e-6);
  EXPECT_LT(late_s, straggling_s({kLatency_s, 0.1, 0.0, 1e9}, 3, 1e-9));
  EXPECT_NEAR(late_s, straggling_s({kLatency_s, 0.1, 0.0, 1e9}, 1000, 20e-6), 1e-12);
}

TEST(Stragglers, NothingIsLateWhereNothingScattersOrAllDoesAlike) {
  EXPECT_EQ(straggling_s({kLatency_s, 0.0, 0.0, 64}, 64, 1e-9), 0.0);
  EXPECT_EQ(straggling_s({kLatency_s, 0.1, 0.1, 64}, 64, 1e-9), 0.0);
  EXPECT_EQ(straggling_s({kLatency_s, 0.1, 0.2, 64}, 64, 1e-9), 0.0);
  EXPECT_EQ(straggling_s({kLatency_s, 0.3, 0.0, 64}, 1, 1e-9), 0.0);
}

TEST(Stragglers, AStreamScattersLessThanItsOperations) {
  // The largest of 64 independent delays has a fifth of the variance of one.
  const double all = straggling_s({kLatency_s, 0.2, 0.0, 1e9}, 64, 1e-9);
  EXPECT_NEAR(straggling_s({kLatency_s, 0.2, 0.2 * 0.44, 64}, 64, 1e-9), all, 0.02 * all);
  EXPECT_LT(straggling_s({kLatency_s, 0.2, 0.15, 64}, 64, 1e-9), 0.8 * all);
}

}  // namespace
}  // namespace stripline::fit
