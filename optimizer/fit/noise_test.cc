#include "optimizer/fit/noise.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::fit {
namespace {

struct Machine {
  double drift_per_run = 0;  // relative
  double between = 0;        // sigma of runs
  double within = 0.02;      // sigma of repetitions
};

std::vector<experiment::SampleSeries> measured(const Machine& machine, uint32_t runs = 12) {
  std::mt19937_64 random(1);
  std::normal_distribution<> normal;
  std::vector<experiment::SampleSeries> all;
  for (uint32_t run = 1; run <= runs; ++run) {
    const double run_factor =
        std::exp(machine.between * normal(random)) * std::pow(1 + machine.drift_per_run, run);
    for (int64_t bytes = 8; bytes <= 4096; bytes *= 2) {
      experiment::SampleSeries series;
      series.point = {"micro.latency", "get", {{"bytes", bytes}}};
      series.run = run;
      series.verified = true;
      for (int i = 0; i < 40; ++i) {
        series.values.push_back(static_cast<double>(bytes) * 1e-9 * run_factor *
                                std::exp(machine.within * normal(random)));
      }
      all.push_back(std::move(series));
    }
  }
  return all;
}

TEST(Noise, QuietMachinesHaveNothingToSay) {
  const Noise noise = judge_noise(measured({}));
  EXPECT_EQ(noise.samples, 12U * 10 * 40);
  EXPECT_LT(static_cast<double>(noise.outliers), 0.02 * static_cast<double>(noise.samples));
  EXPECT_FALSE(noise.drift) << *noise.drift;
  ASSERT_TRUE(noise.between_runs);
  EXPECT_LT(*noise.between_runs, 0.1);
}

TEST(Noise, FindsDriftOverTheRuns) {
  const Noise noise = judge_noise(measured({.drift_per_run = 0.01}));
  ASSERT_TRUE(noise.drift);
  EXPECT_NEAR(*noise.drift, std::pow(1.01, 11) - 1, 0.01);
  EXPECT_FALSE(judge_noise(measured({.drift_per_run = 0.01}, 3)).drift) << "too few runs to tell";
}

TEST(Noise, TellsRunsFromRepetitions) {
  EXPECT_GT(*judge_noise(measured({.between = 0.1})).between_runs, 0.8);
  const Noise one_run = judge_noise(measured({}, 1));
  EXPECT_FALSE(one_run.between_runs);
  EXPECT_FALSE(one_run.drift);
}

TEST(Noise, CountsOutliersAndLeavesOutWhatIsWrong) {
  auto series = measured({});
  const Noise before = judge_noise(series);
  for (auto& one : series) one.values.front() *= 10;
  EXPECT_GE(judge_noise(series).outliers, series.size());
  EXPECT_LE(judge_noise(series).outliers, series.size() + before.outliers + 10);
  for (auto& one : series) one.verified = false;
  EXPECT_EQ(judge_noise(series).samples, 0U);

  auto differences = measured({});
  for (auto& one : differences) one.values.back() = -1e-9;
  const Noise noise = judge_noise(differences);
  EXPECT_EQ(noise.samples, before.samples);
  EXPECT_FALSE(noise.between_runs) << "no logarithm of a difference";
}

}  // namespace
}  // namespace stripline::fit
