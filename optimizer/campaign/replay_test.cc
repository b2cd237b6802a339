#include "optimizer/campaign/replay.h"

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/json.h"
#include "optimizer/campaign/choices.h"
#include "optimizer/campaign/next_run.h"
#include "optimizer/experiment/json.h"

namespace stripline::campaign {
namespace {

using experiment::Point;

Point collective(int64_t bytes, const std::string& algorithm) {
  return {"micro.collective_allreduce", algorithm, {{"bytes", bytes}}};
}

// Sizes, at each of which another of five algorithms is the fastest: by `gap`, and the
// others by as much again each. Six repetitions, of as many seconds.
Recording recorded(double gap, double noise_sigma, uint64_t seed) {
  constexpr uint32_t kRuns = 12;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, noise_sigma);
  Recording recording;
  for (int size = 0; size < 16; ++size) {
    for (int algorithm = 0; algorithm < 5; ++algorithm) {
      const auto place = static_cast<uint32_t>(recording.points.size());
      recording.points.push_back(
          collective(int64_t{8} << size, "algorithm" + std::to_string(algorithm)));
      const int rank = (algorithm + size) % 5;
      for (uint32_t run = 1; run <= kRuns; ++run) {
        const double time_s = 1e-5 * (1 + gap * rank) * std::exp(noise(random));
        recording.runs[run][place] = {place, time_s, 6, 6 * time_s};
      }
    }
  }
  return recording;
}

ReplayResult played(const Recording& recording, Strategy strategy, double share = 0.15) {
  const auto result = replay(recording, {.strategy = strategy, .share = share});
  EXPECT_TRUE(result.ok()) << result.error().message();
  return result.ok() ? *result : ReplayResult();
}

TEST(Choices, AreAlternativesThatDoTheSame) {
  const PointTable table({collective(8, "tree"),
                          collective(8, "ring"),
                          collective(16, "tree"),
                          {"micro.latency", "get", {{"bytes", int64_t{8}}}},
                          {"micro.latency", "put", {{"bytes", int64_t{8}}}},
                          {"micro.vis_window", "get", {{"window", int64_t{1}}}},
                          {"micro.vis_window", "get", {{"window", int64_t{2}}}},
                          {"micro.vis_window", "put", {{"window", int64_t{2}}}}});
  const auto choices = choices_of(table);
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[0].places, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(choices[1].places, (std::vector<uint32_t>{5, 6}));
}

TEST(Choices, WhatIsHopelessOrEquivalentDoesNotCompete) {
  PointTable table({collective(8, "a"), collective(8, "b"), collective(8, "c")});
  for (uint32_t run = 1; run <= 3; ++run) {
    const PointResult results[] = {{0, 1e-6, 6, 0}, {1, 1.005e-6, 6, 0}, {2, 4e-6, 6, 0}};
    table.add_run(run, results);
    const auto contests = contests_of(table);
    EXPECT_EQ(contests.size(), run < 3 ? 1U : 0U);
    if (run < 3) {
      ASSERT_EQ(contests[0].contenders.size(), 1U);
      EXPECT_EQ(contests[0].contenders[0].place, 1U);
      EXPECT_NEAR(contests[0].contenders[0].excess, 0.005, 1e-9);
    }
    EXPECT_EQ(leader_of(table, {{0, 1, 2}}), 0U);
  }
}

TEST(Replay, RacingFindsTheFastestInFewSeconds) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Recording recording = recorded(0.1, 0.02, seed);
    const ReplayResult race = played(recording, Strategy::race);
    EXPECT_EQ(race.choices, 16U);
    EXPECT_LE(race.share, 0.15);
    EXPECT_LE(race.mean_regret, 0.03);
    const ReplayResult random = played(recording, Strategy::random);
    EXPECT_LE(random.share, 0.15 + 1e-9);
    EXPECT_LT(race.mean_regret, random.mean_regret);
    const ReplayResult halving = played(recording, Strategy::halving);
    EXPECT_LE(halving.share, 0.15);
    EXPECT_LE(race.mean_regret, halving.mean_regret + 0.005);
  }
}

TEST(Replay, ARaceKeepsToItsSecondsAndMeasuresChoicesAsAWhole) {
  const Recording recording = recorded(0.02, 0.05, 3);  // nothing is settled early
  for (const double share : {0.02, 0.05, 0.1, 0.123, 0.15, 0.2}) {
    const ReplayResult race = played(recording, Strategy::race, share);
    EXPECT_LE(race.share, share);
    EXPECT_GT(race.share, 0.75 * share) << "what one choice takes is less";
  }
}

TEST(Replay, WhatChanceHasMeasuredOnceCountsBesideWhatItMeasuredOften) {
  // Without noise, whoever has measured the fastest once takes it.
  const Recording recording = recorded(0.1, 0, 1);
  const ReplayResult random = played(recording, Strategy::random, 0.5);
  EXPECT_EQ(random.near, random.choices);
}

TEST(Replay, WhatAnotherMachineHasSaidHalvesTheSeconds) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Recording recording = recorded(0.3, 0.02, seed);
    Recording other = recorded(0.3, 0.02, 100 + seed);
    for (auto& [run, results] : other.runs) {
      for (auto& [place, result] : results) result.median *= 3;  // slower, and alike
    }
    const auto race = replay(recording, {.share = 0.075, .prior = &other});
    ASSERT_TRUE(race.ok());
    EXPECT_LE(race->share, 0.075);
    EXPECT_LE(race->mean_regret, 0.03);
  }
}

TEST(Choices, WhatAnotherMachineDoesNotKnowIsWorthARun) {
  const PointTable here({collective(8, "a"), collective(8, "b"), collective(8, "c"),
                         collective(16, "a"), collective(16, "b")});
  PointTable elsewhere({collective(8, "a"), collective(8, "b")});
  const PointResult results[] = {{0, 1e-6, 6, 0}, {1, 2e-6, 6, 0}};
  elsewhere.add_run(1, results);
  EXPECT_EQ(promising(here, elsewhere), (std::vector<uint32_t>{0, 2, 3, 4}));
  EXPECT_EQ(promising(here, elsewhere, 3).size(), 5U);
}

TEST(Replay, TheWholeGridChoosesAsItIsJudged) {
  const ReplayResult grid = played(recorded(0.1, 0.05, 1), Strategy::grid);
  EXPECT_EQ(grid.runs, 12U);
  EXPECT_NEAR(grid.share, 1, 1e-9);
  EXPECT_EQ(grid.worst_regret, 0);
  EXPECT_EQ(grid.near, 16U);
}

TEST(Replay, ARaceEndsWhenAllIsSettled) {
  const ReplayResult race = played(recorded(3, 0.01, 1), Strategy::race, 1);
  EXPECT_EQ(race.runs, 1U);  // the second best is hopeless
  EXPECT_EQ(race.worst_regret, 0);
}

TEST(Replay, RefusesWhatHasNothingToChoose) {
  Recording recording;
  recording.points = {{"micro.latency", "get", {{"bytes", int64_t{8}}}}};
  recording.runs[1][0] = {0, 1e-6, 6, 6e-6};
  const auto result = replay(recording, {});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("no alternatives"), std::string::npos);
  EXPECT_FALSE(replay(recorded(0.1, 0, 1), {.share = 0}).ok());
}

TEST(Recording, IsWhatExportWrites) {
  experiment::SampleSeries series;
  series.point = collective(8, "ring");
  series.run = 3;
  series.values = {1e-6, 2e-6, 3e-6};
  series.timestamps_s = {1, 2, 3};
  series.verified = true;
  Json line = experiment::to_json(series);
  line["assignment"] = "campaigns/c1/runs/3";
  line["orphan"] = false;
  Json orphan = line;
  orphan["orphan"] = true;
  orphan["run"] = 4;
  const auto recording = read_recording(line.dump() + "\n" + orphan.dump() + "\n");
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  ASSERT_EQ(recording->runs.size(), 1U);
  EXPECT_EQ(recording->points.front(), series.point);
  EXPECT_EQ(recording->runs.at(3).at(0).median, 2e-6);
  EXPECT_DOUBLE_EQ(recording->seconds(), 3);
  for (const char* bad : {"", "{}", "[1]\n", "{\"orphan\":true}"}) {
    EXPECT_FALSE(read_recording(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace stripline::campaign
