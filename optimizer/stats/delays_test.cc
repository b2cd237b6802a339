#include "optimizer/stats/delays.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"

namespace stripline::stats {
namespace {

constexpr double kTruth = 10e-6;

/// Runs of a point: log-normal noise, and bursts of other work that delay a share of the
/// repetitions.
struct Noise {
  double between_runs = 0.02;
  double within_run = 0.05;
  double delayed = 0;  ///< share of repetitions
  double delay = 0;    ///< by this part of the time at least, exponential above that
};

std::vector<double> run_of(std::mt19937_64& random, const Noise& noise, int reps) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::exponential_distribution<double> exponential(1);
  const double of_run = std::exp(noise.between_runs * normal(random));
  std::vector<double> times;
  for (int i = 0; i < reps; ++i) {
    double time = kTruth * of_run * std::exp(noise.within_run * normal(random));
    if (uniform(random) < noise.delayed) time *= 1 + noise.delay * (1 + exponential(random));
    times.push_back(time);
  }
  return times;
}

double undelayed_median(std::vector<double> times) {
  const Delays delays = find_delays(times);
  std::erase_if(times, [&](double time) { return time > delays.limit; });
  return median(times);
}

struct Outcome {
  double coverage = 0;
  double bias = 0;        ///< of the location over runs, as a part of the truth
  double half_width = 0;  ///< mean, likewise
};

Outcome outcome_of(const Noise& noise, double (*location)(std::vector<double>), int reps) {
  constexpr int kTrials = 1000;
  constexpr int kRuns = 8;
  std::mt19937_64 random(5);
  Outcome outcome;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> runs;
    for (int run = 0; run < kRuns; ++run) runs.push_back(location(run_of(random, noise, reps)));
    const Interval interval = *mean_interval(runs, 0.95);
    outcome.coverage += interval.contains(kTruth) ? 1.0 / kTrials : 0;
    outcome.bias += (mean_and_variance(runs).mean / kTruth - 1) / kTrials;
    outcome.half_width += interval.half_width() / kTruth / kTrials;
  }
  return outcome;
}

double plain_median(std::vector<double> times) { return median(times); }

TEST(Delays, WithoutOtherWorkNothingChanges) {
  for (const int reps : {16, 64, 200}) {
    const Outcome plain = outcome_of({}, plain_median, reps);
    const Outcome undelayed = outcome_of({}, undelayed_median, reps);
    EXPECT_GE(undelayed.coverage, plain.coverage - 0.01) << reps;
    EXPECT_NEAR(undelayed.bias, plain.bias, 0.003) << reps;
    EXPECT_LT(undelayed.half_width, 1.1 * plain.half_width) << reps;
  }
}

// Bursts move the median, and intervals over runs that all have them do not contain the truth. What
// is left without the delayed ones does not: the bias is below what an interval of clean runs is
// wide, and that still covers.
TEST(Delays, BurstsOfOtherWorkDoNotMoveTheLocation) {
  const Outcome clean = outcome_of({}, plain_median, 64);
  std::printf("%8s %6s | %9s %8s | %9s %8s %10s\n", "delayed", "by", "median", "covers",
              "undelayed", "covers", "half-width");
  for (const double share : {0.1, 0.2, 0.3, 0.4}) {
    for (const double delay : {0.3, 0.5, 1.0, 5.0}) {
      const Noise noise{.delayed = share, .delay = delay};
      const Outcome plain = outcome_of(noise, plain_median, 64);
      const Outcome undelayed = outcome_of(noise, undelayed_median, 64);
      std::printf("%7.0f%% %5.0f%% | %+8.2f%% %7.1f%% | %+8.2f%% %7.1f%% %9.2f%%\n", 100 * share,
                  100 * delay, 100 * plain.bias, 100 * plain.coverage, 100 * undelayed.bias,
                  100 * undelayed.coverage, 100 * undelayed.half_width);
      // 95 %, within two standard errors of this many trials.
      EXPECT_GE(undelayed.coverage, 0.936) << share << " " << delay;
      EXPECT_LT(std::abs(undelayed.bias), clean.half_width) << share << " " << delay;
      if (share >= 0.3) {
        EXPECT_LT(plain.coverage, 0.8) << "nothing was to be mended";
      }
    }
  }
}

TEST(Delays, FewTimesAndThoseThatAreNoneAreLeftAlone) {
  EXPECT_EQ(find_delays(std::vector<double>{}).delayed, 0U);
  EXPECT_EQ(find_delays(std::vector<double>{1, 1.1, 0.9, 5, 6, 7}).delayed, 0U);
  EXPECT_EQ(find_delays(std::vector<double>(20, 1e-6)).delayed, 0U);
  std::vector<double> differences(20, 1.0);
  differences.back() = -1;
  EXPECT_EQ(find_delays(differences).delayed, 0U);
  // One of many is an outlier, which a median does not mind.
  std::vector<double> times;
  for (int i = 0; i < 40; ++i) times.push_back(1 + 0.001 * i);
  times.back() = 9;
  EXPECT_EQ(find_delays(times).delayed, 0U);
}

}  // namespace
}  // namespace stripline::stats
