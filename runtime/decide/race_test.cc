#include "runtime/decide/race.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::decide {
namespace {

// A site whose arms take this many seconds, and scatter.
class Arms {
 public:
  explicit Arms(std::vector<double> seconds, uint64_t seed = 1, double noise = 0.02)
      : seconds(std::move(seconds)), random_(seed), noise_(noise) {}

  // Carries it out `executions` times; returns what all of that took.
  double run(Race& race, int executions) {
    double all_s = 0;
    for (int i = 0; i < executions; ++i) {
      const Race::Turn turn = race.next();
      const double s =
          seconds.at(turn.arm) * std::exp(std::normal_distribution<>(0, noise_)(random_));
      ++tried.at(turn.arm);
      all_s += s;
      race.record(turn, s);
    }
    return all_s;
  }

  std::vector<double> seconds;
  std::vector<int> tried = std::vector<int>(8, 0);

 private:
  std::mt19937_64 random_;
  double noise_;
};

TEST(Race, OfTheBaselineAloneHasNothingToCompare) {
  Race race;
  EXPECT_FALSE(race.has_rivals());
  EXPECT_EQ(race.in_use(), kBaseline);
  race.start(1, kBaseline);
  EXPECT_FALSE(race.has_rivals());
  Savings savings;
  race.add_to(savings);
  EXPECT_EQ(savings.sites, 0);
}

// Two arms are what a guard compares: turn by turn.
TEST(Race, OfTwoIsAGuard) {
  const plan::Guard::Forecast tuned = plan::Guard::tuned_forecast(0.95, 1, 0.02);
  const plan::Guard::Forecast baseline = plan::Guard::baseline_forecast(0.95, 1, 0.02);
  for (const bool tie : {false, true}) {
    plan::Guard guard(tie ? plan::Guard::Of::tie : plan::Guard::Of::site,
                      tie ? plan::Guard::Method::baseline : plan::Guard::Method::tuned);
    guard.expect(tuned, baseline);
    Race race;
    race.start(2, tie ? kBaseline : Arm{1}, tie ? Race::Of::tie : Race::Of::site);
    race.expect(std::array{baseline, tuned});
    std::mt19937_64 random(7);
    for (int i = 0; i < 5000; ++i) {
      const plan::Guard::Turn expected = guard.next();
      const Race::Turn turn = race.next();
      ASSERT_EQ(turn.arm, expected.method == plan::Guard::Method::tuned ? 1 : 0) << i;
      ASSERT_EQ(turn.check, expected.check) << i;
      const double s =
          (turn.arm == 1 ? 0.9 : 1.0) * std::exp(std::normal_distribution<>(0, 0.01)(random));
      guard.record(expected, s);
      race.record(turn, s);
    }
    EXPECT_EQ(race.in_use(), 1);
    Savings savings;
    race.add_to(savings);
    EXPECT_EQ(savings.checks, guard.checks());
    EXPECT_EQ(savings.excess_s, guard.excess_s());
    EXPECT_LE(savings.excess_s, plan::Guard::kBudget * savings.taken_s);
  }
}

TEST(Race, ComparesAtOnceWhenItIsAskedTo) {
  Race race;
  race.start(2, Arm{1});
  race.check_at_once();
  Arms arms({0.7, 1});
  arms.run(race, 2);
  race.give_back(race.next());  // by an execution that does nothing
  EXPECT_EQ(arms.tried[kBaseline], 0);
  arms.run(race, 2);
  EXPECT_EQ(arms.tried[kBaseline], 2);
  EXPECT_EQ(race.in_use(), kBaseline);
}

// One after the other, and then the two fastest as the budget allows.
TEST(Race, ComparesEachAtOnceWhenItIsAskedTo) {
  Race race;
  race.start(3, Arm{1});
  race.check_at_once();
  Arms arms({1.5, 1, 0.5});
  arms.run(race, 4);
  EXPECT_EQ(arms.tried[kBaseline], 2);
  EXPECT_EQ(arms.tried[2], 0);
  arms.run(race, 2);
  EXPECT_EQ(arms.tried[2], 2);
  EXPECT_EQ(race.in_use(), 2);
  arms.run(race, 100);
  EXPECT_EQ(arms.tried[kBaseline], 2);
  EXPECT_EQ(arms.tried[2], 102);
}

// Ranks on which the baseline takes different times, and one of which leaves half of a check out.
TEST(Race, ComparesEachAtTheSameExecutionsOnAllRanks) {
  for (const double baseline_s : {0.97, 1.03, 1.5, 40.0}) {
    SCOPED_TRACE(baseline_s);
    Race race;
    race.start(3, Arm{1});
    race.check_at_once();
    Arms arms({baseline_s, 1, 0.9});
    arms.run(race, 4);
    EXPECT_EQ(arms.tried[kBaseline], baseline_s > 4 ? 1 : 2);
    EXPECT_EQ(arms.tried[2], 0);
    arms.run(race, 2);
    EXPECT_EQ(arms.tried[2], 2);
  }
}

// The baseline is faster by less than one check can tell: it is checked again as soon as all have
// been tried.
TEST(Race, ChecksAgainSoonWhatMayBeFaster) {
  Race race;
  race.start(3, Arm{1});
  race.check_at_once();
  Arms arms({0.9, 1, 3});
  arms.run(race, 100);
  EXPECT_EQ(race.in_use(), kBaseline);
  EXPECT_EQ(arms.tried[2], 2);
}

TEST(Race, FindsTheFastestOfMany) {
  for (Arm fastest = 0; fastest < 6; ++fastest) {
    for (Arm first = 0; first < 6; ++first) {
      Arms arms({1.3, 1.5, 2.0, 1.4, 1.25, 3.0}, fastest * 8U + first);
      arms.seconds[fastest] = 1;
      Race race;
      race.start(6, first);
      arms.run(race, 20000);
      EXPECT_EQ(race.in_use(), fastest) << "beginning with " << int{first};
      // Beside it only the next best is tried again.
      std::fill(arms.tried.begin(), arms.tried.end(), 0);
      const double all_s = arms.run(race, 20000);
      EXPECT_LT(all_s, 1.03 * 20000);
      EXPECT_LE(std::ranges::count_if(arms.tried, [](int times) { return times > 0; }), 2);
    }
  }
}

// What takes many times as long is not tried, if that was predicted, nor does anybody wait for it;
// and else not more often than it takes to know.
TEST(Race, GivesHopelessArmsUpAtOnce) {
  for (const bool predicted : {false, true}) {
    Arms arms({50, 1, 60, 1.2, 70});
    Race race;
    race.start(5, 1, Race::Of::turns);
    if (predicted) {
      std::vector<plan::Guard::Forecast> forecasts;
      for (const double s : arms.seconds) forecasts.push_back({s, 0.9 * s, 1.1 * s});
      race.expect(forecasts);
    }
    arms.run(race, 100000);
    EXPECT_EQ(race.in_use(), 1);
    for (const Arm hopeless : {Arm{0}, Arm{2}, Arm{4}})
      EXPECT_LE(arms.tried[hopeless], predicted ? 0 : 2) << int{hopeless};
    EXPECT_GE(arms.tried[3], 4);
  }
}

// As if each had an interval of one value; of an arm whose time is 0 nothing is expected.
TEST(Race, ExpectsTimesWithoutIntervals) {
  Race of_times;
  of_times.start(3, 1, Race::Of::turns);
  of_times.expect_times(std::array{50.0, 1.0, 0.0}, 40);
  Race of_forecasts;
  of_forecasts.start(3, 1, Race::Of::turns);
  of_forecasts.expect(std::array<plan::Guard::Forecast, 3>{{{50, 50, 50}, {1, 1, 1}, {}}}, 40);
  Arms one({50, 1, 1.2});
  Arms other({50, 1, 1.2});
  EXPECT_EQ(of_times.used_s(), 1);
  EXPECT_EQ(of_times.baseline_excess_s(), of_forecasts.baseline_excess_s());
  EXPECT_EQ(one.run(of_times, 100000), other.run(of_forecasts, 100000));
  EXPECT_EQ(one.tried, other.tried);
  EXPECT_EQ(one.tried[kBaseline], 0);
  EXPECT_GT(one.tried[2], 0);
}

// Turns take more than is predicted, which says little of their ratio. Where they scatter by more
// than the budget, few of them check.
TEST(Race, OfTurnsThatScatterKeepsTheBudgetOfShortPrograms) {
  for (const int turns : {30, 200, 1000}) {
    Savings all;
    for (uint64_t seed = 0; seed < 20000U / static_cast<uint64_t>(turns); ++seed) {
      Race race;
      race.start(3, 1, Race::Of::turns);
      const std::array<plan::Guard::Forecast, 3> forecasts{
          {{0.51, 0.51, 0.51}, {0.5, 0.5, 0.5}, {0.52, 0.52, 0.52}}};
      race.expect(forecasts);
      Arms arms({1, 1, 1.5}, seed, 0.2);
      arms.run(race, turns);
      race.add_to(all);
    }
    EXPECT_LT(all.excess_s, plan::Guard::kBudget * all.taken_s) << turns;
  }
}

// The baseline has lost, and the next arm is not to replace the winner because the model, which has
// predicted far too much, says nothing about it.
TEST(Race, KeepsTheWinnerUntilTheNextArmIsChecked) {
  Race race;
  race.start(3, 1);
  const plan::Guard::Forecast far_too_much{10, 9, 11};
  race.expect(std::vector<plan::Guard::Forecast>(3, far_too_much), 1.2);
  const std::array<double, 3> seconds{1.2, 1, 9};
  int third = 0;
  for (int i = 0; i < 1000; ++i) {
    const Race::Turn turn = race.next();
    third += turn.arm == 2 ? 1 : 0;
    race.record(turn, seconds[turn.arm]);
  }
  EXPECT_EQ(race.in_use(), 1);
  EXPECT_LE(third, 1) << "in a check, of which one execution was enough";
}

TEST(Race, IsDemotedByOthers) {
  for (const Arm count : {Arm{2}, Arm{3}}) {
    Race race;
    race.start(count, 1);
    race.demote();
    EXPECT_TRUE(race.is_demoted());
    Arms arms({3, 1, 2});
    arms.run(race, 1000);
    EXPECT_EQ(race.in_use(), kBaseline);
    EXPECT_EQ(arms.tried[1], 0);
    Savings savings;
    race.add_to(savings);
    EXPECT_EQ(savings.sites, 1);
    EXPECT_EQ(savings.demoted, 1);
  }
}

// The two best go on being compared.
TEST(Race, FollowsWhatChanges) {
  Arms arms({2, 1.1, 1, 3});
  Race race;
  race.start(4, 1, Race::Of::turns);
  arms.run(race, 20000);
  EXPECT_EQ(race.in_use(), 2);
  arms.seconds[2] = 1.4;
  arms.run(race, 20000);
  EXPECT_EQ(race.in_use(), 1);
}

TEST(Race, BeginsAnewWithOtherArms) {
  Arms arms({1, 2, 3});
  Race race;
  race.start(3, 1);
  arms.run(race, 5000);
  EXPECT_EQ(race.in_use(), kBaseline);
  race.start(3, 2);
  EXPECT_EQ(race.in_use(), 2);
  arms.seconds = {3, 2, 1};
  arms.run(race, 5000);
  EXPECT_EQ(race.in_use(), 2);
}

// Up to the time that says which arm is faster, turns are the same whenever times are recorded
// after them.
TEST(Race, TellsItsTurnsAhead) {
  Race race;
  race.start(4, 1, Race::Of::turns);
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> seconds(0, 0.1);
  int told = 0;
  for (int i = 0; i < 3000; ++i) {
    Race ahead = race;
    std::vector<Race::Turn> turns;
    do {
      turns.push_back(ahead.next());
    } while (turns.size() < 40 && !turns.back().last);
    for (const Race::Turn& expected : turns) {
      const Race::Turn turn = race.next();
      ASSERT_EQ(turn.arm, expected.arm);
      ASSERT_EQ(turn.check, expected.check);
      ASSERT_EQ(turn.last, expected.last);
      told += turn.last ? 1 : 0;
    }
    for (const Race::Turn& turn : turns) race.record(turn, seconds(random));
  }
  EXPECT_GT(told, 100);
}

}  // namespace
}  // namespace stripline::decide
