#include "optimizer/search/race.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace stripline::search {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

// Candidate c is 2% slower than c - 1; runs share a 10% effect.
TimeTable ladder(std::mt19937_64& random, std::size_t candidates, std::size_t rounds) {
  std::normal_distribution<double> normal;
  TimeTable times(candidates);
  for (std::size_t run = 0; run < rounds; ++run) {
    const double shared = std::exp(0.1 * normal(random));
    for (std::size_t c = 0; c < candidates; ++c) {
      times[c].push_back(shared * (1.0 + 0.02 * static_cast<double>(c)) *
                         std::exp(0.01 * normal(random)));
    }
  }
  return times;
}

TEST(Race, DropsTheHopelessAtOnceButKeepsTheDefault) {
  const TimeTable times{{9.0}, {1.0}, {2.0}, {4.0}};
  const auto step = race_step(times, {0, 1, 2, 3}, {.keep = {0}}, 0.0);
  ASSERT_TRUE(step.ok());
  EXPECT_EQ(step->survivors, (std::vector<std::size_t>{0, 1, 2}));
  ASSERT_EQ(step->dropped.size(), 1U);
  EXPECT_EQ(step->dropped[0].candidate, 3U);
  EXPECT_EQ(step->dropped[0].reason, DropReason::hopeless);
  EXPECT_EQ(step->leader, 1U);
  EXPECT_FALSE(step->done);
}

TEST(Race, PairedTestPrunesTheSlowerAndFindsTheBest) {
  std::mt19937_64 random(31);
  int right = 0;
  std::size_t measurements = 0;
  constexpr int kTrials = 100;
  constexpr std::size_t kCandidates = 16;
  for (int trial = 0; trial < kTrials; ++trial) {
    const TimeTable all = ladder(random, kCandidates, 12);
    std::vector<std::size_t> alive;
    for (std::size_t c = 0; c < kCandidates; ++c) alive.push_back(c);
    TimeTable seen(kCandidates, std::vector<double>(12, kNan));
    std::size_t leader = 0;
    for (std::size_t round = 0; round < 12; ++round) {
      for (const std::size_t c : alive) seen[c][round] = all[c][round];
      measurements += alive.size();
      const auto step = race_step(seen, alive, {}, 0.0);
      ASSERT_TRUE(step.ok());
      alive = step->survivors;
      leader = step->leader;
      if (step->done) break;
    }
    right += leader <= 1 ? 1 : 0;
  }
  EXPECT_GE(right, 97);
  EXPECT_LT(measurements, kTrials * kCandidates * 12 * 2 / 3);
}

TEST(Race, HalvesWhenTimeIsShortAndStopsWhenItIsOut) {
  const TimeTable times{{1.0, 1.0}, {1.1, 1.1}, {1.2, 1.2}, {1.3, 1.3}};
  const RaceRule rule{.target_rounds = 6, .time_budget_s = 20.0};
  const auto short_of_time = race_step(times, {0, 1, 2, 3}, rule, 9.2);
  ASSERT_TRUE(short_of_time.ok());
  EXPECT_EQ(short_of_time->survivors, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(short_of_time->dropped.front().reason, DropReason::halved);
  EXPECT_FALSE(short_of_time->done);
  EXPECT_TRUE(race_step(times, {0, 1, 2, 3}, rule, 19.0)->done);
  const auto rich = race_step(times, {0, 1, 2, 3}, {.target_rounds = 6}, 9.2);
  EXPECT_EQ(rich->survivors.size(), 4U);
  EXPECT_TRUE(race_step(times, {2}, rule, 0.0)->done);
}

TEST(Race, RefusesBadInput) {
  EXPECT_FALSE(race_step({}, {0}, {}, 0.0).ok());
  EXPECT_FALSE(race_step({{1.0}}, {}, {}, 0.0).ok());
  EXPECT_FALSE(race_step({{1.0}}, {1}, {}, 0.0).ok());
  EXPECT_FALSE(race_step({{-1.0}}, {0}, {}, 0.0).ok());
  EXPECT_FALSE(race_step({{1.0}}, {0}, {.level = 0.0}, 0.0).ok());
  EXPECT_FALSE(race_step({{1.0}}, {0}, {.hopeless_factor = 0.5}, 0.0).ok());
  EXPECT_FALSE(race_step({{1.0}}, {0}, {.hopeless_factor = kNan}, 0.0).ok());
  EXPECT_EQ(race_step({{1.0, kNan}, {kNan, 1.0}}, {0, 1}, {}, 0.0).error().code(),
            ErrorCode::failed_precondition);
}

}  // namespace
}  // namespace stripline::search
