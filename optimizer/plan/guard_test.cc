#include "optimizer/plan/guard.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::plan {
namespace {

using Way = Guard::Way;

// Executions whose times scatter; now and then something else runs meanwhile.
class Site {
 public:
  Site(double tuned_s, double baseline_s, double noise, uint64_t seed)
      : tuned_s_(tuned_s), baseline_s_(baseline_s), noise_(noise), random_(seed) {}

  void set(double tuned_s, double baseline_s) {
    tuned_s_ = tuned_s;
    baseline_s_ = baseline_s;
  }
  void run(Guard& guard, int executions) {
    for (int i = 0; i < executions; ++i) {
      const Guard::Turn turn = guard.next();
      double seconds = turn.way == Way::tuned ? tuned_s_ : baseline_s_;
      expected_s_ += seconds;
      seconds *= std::exp(std::normal_distribution<>(0, noise_)(random_));
      if (std::uniform_real_distribution<>()(random_) < 0.02) seconds *= 3;
      timed_ += turn.timed ? 1 : 0;
      if (turn.timed) guard.record(turn.way, seconds);
    }
  }
  double expected_s() const { return expected_s_; }
  int timed() const { return timed_; }

 private:
  double tuned_s_;
  double baseline_s_;
  double noise_;
  std::mt19937_64 random_;
  double expected_s_ = 0;
  int timed_ = 0;
};

TEST(Guard, ChecksBothWaysAndRarely) {
  Guard guard;
  std::vector<Guard::Turn> turns;
  for (int i = 0; i < 80; ++i) {
    turns.push_back(guard.next());
    if (turns.back().timed)
      guard.record(turns.back().way, turns.back().way == Way::tuned ? 1 : 1.5);
  }
  // What is timed comes after an execution in the same way.
  for (const size_t check : {0, 4}) {
    EXPECT_FALSE(turns[check].timed || turns[check + 2].timed);
    EXPECT_TRUE(turns[check + 1].timed && turns[check + 3].timed);
    EXPECT_EQ(turns[check].way, turns[check + 1].way);
    EXPECT_EQ(turns[check + 2].way, turns[check + 3].way);
    EXPECT_NE(turns[check].way, turns[check + 2].way);
  }
  // The second check in the other order.
  EXPECT_EQ(turns[0].way, Way::tuned);
  EXPECT_EQ(turns[4].way, Way::baseline);
  for (size_t later = 16; later < turns.size(); ++later) {
    EXPECT_FALSE(turns[later].timed);
    EXPECT_EQ(turns[later].way, Way::tuned);
  }

  Site site(1, 1.5, 0.05, 3);
  site.run(guard, 10000);
  EXPECT_LT(site.timed(), 2 * 10000 / 64 + 20);
}

// Ranks that check at different times hold each other up.
TEST(Guard, RanksShareWhatChecksTake) {
  constexpr int kRanks = 32;
  std::vector<Guard> guards(kRanks);
  int held_up = 0;
  constexpr int kExecutions = 20000;
  for (int rank = 0; rank < kRanks; ++rank) {
    guards[rank].share_budget(kRanks);
    // They are not equally far.
    for (int i = 0; i < 300 + 37 * rank; ++i) {
      const Guard::Turn turn = guards[rank].next();
      if (turn.timed) guards[rank].record(turn.way, turn.way == Way::tuned ? 1 : 1.5);
    }
  }
  for (int i = 0; i < kExecutions; ++i) {
    bool slower = false;
    for (Guard& guard : guards) {
      const Guard::Turn turn = guard.next();
      if (turn.timed) guard.record(turn.way, turn.way == Way::tuned ? 1 : 1.5);
      slower = slower || turn.way == Way::baseline;
    }
    held_up += slower ? 1 : 0;
  }
  EXPECT_GT(held_up, 0);
  EXPECT_LT(held_up, kExecutions / 40);
}

constexpr int kWarmUp = 300;

// A bad plan costs little, however bad it is.
TEST(Guard, LosesLittleToABadPlan) {
  for (const double slower : {1.03, 1.1, 1.5, 3.0, 30.0}) {
    for (const double noise : {0.01, 0.05}) {
      double worst = 0;
      for (uint64_t seed = 0; seed < 50; ++seed) {
        Guard guard;
        Site site(slower, 1, noise, seed);
        site.run(guard, kWarmUp);
        const double before_s = site.expected_s();
        site.run(guard, 5000);
        worst = std::max(worst, (site.expected_s() - before_s) / 5000 - 1);
      }
      EXPECT_LT(worst, 0.02) << slower << ", noise " << noise;
    }
  }
}

TEST(Guard, KeepsAGoodPlan) {
  for (const double faster : {0.97, 0.9, 0.5, 0.05}) {
    for (const double noise : {0.01, 0.05}) {
      double worst = 0;
      for (uint64_t seed = 0; seed < 50; ++seed) {
        Guard guard;
        Site site(faster, 1, noise, seed);
        site.run(guard, kWarmUp);
        const double before_s = site.expected_s();
        site.run(guard, 5000);
        worst = std::max(worst, (site.expected_s() - before_s) / 5000 / faster - 1);
      }
      EXPECT_LT(worst, 0.02) << faster << ", noise " << noise;
    }
  }
}

// The network gets slower, say: what was right is wrong, and later right again.
TEST(Guard, FollowsWhatChanges) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Guard guard;
    Site site(0.8, 1, 0.03, seed);
    site.run(guard, 2000);
    EXPECT_EQ(guard.in_use(), Way::tuned);
    site.set(1.3, 1);
    site.run(guard, 3000);
    EXPECT_EQ(guard.in_use(), Way::baseline);
    site.set(0.7, 1);
    site.run(guard, 3000);
    EXPECT_EQ(guard.in_use(), Way::tuned);
  }
}

TEST(Guard, KnowsWhatWasSaved) {
  double error = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Guard guard;
    EXPECT_EQ(guard.balance().baseline_s, 0);
    Site site(0.8e-3, 1e-3, 0.03, seed);
    site.run(guard, 3000);
    const Guard::Balance balance = guard.balance();
    const double saved = 1 - balance.actual_s / balance.baseline_s;
    error = std::max(error, std::abs(saved - 0.2));
    EXPECT_GT(balance.error_s, 0);
    EXPECT_LT(balance.error_s, 0.2 * balance.baseline_s);
  }
  EXPECT_LT(error, 0.06);
  // Nothing is saved by a plan that is not used.
  Guard guard;
  Site site(2, 1, 0.01, 1);
  site.run(guard, 5000);
  const Guard::Balance balance = guard.balance();
  EXPECT_NEAR(balance.actual_s / balance.baseline_s, 1, 0.02);
}

// Guards on several ranks, whose times differ a little, carry the same executions out alike.
class GuardsOfRanks : public testing::TestWithParam<Guard::Of> {};

INSTANTIATE_TEST_SUITE_P(All, GuardsOfRanks,
                         testing::Values(Guard::Of::site, Guard::Of::tie, Guard::Of::turns));

TEST_P(GuardsOfRanks, CheckAtTheSameExecutions) {
  for (const double slower : {0.1, 0.7, 0.95, 1.0, 1.05, 1.4, 10.0}) {
    Guard one(GetParam(), Way::tuned);
    Guard other(GetParam(), Way::tuned);
    std::mt19937_64 random(1);
    const auto run = [&](Guard& guard) {
      const Guard::Turn turn = guard.next();
      const double seconds = turn.way == Way::tuned ? slower : 1;
      const double scatter = std::exp(std::normal_distribution<>(0, 0.003)(random));
      if (turn.timed) guard.record(turn.way, seconds * scatter);
      return turn;
    };
    int pairs = 0;
    int apart = 0;
    for (int i = 0; i < 4000; ++i) {
      const Guard::Turn a = run(one);
      const Guard::Turn b = run(other);
      EXPECT_FALSE(a.timed && b.timed && a.way != b.way) << slower << " " << i;
      apart += a.way != b.way || a.timed != b.timed ? 1 : 0;
      pairs += a.timed ? 1 : 0;
    }
    EXPECT_GT(pairs, 2) << slower;
    EXPECT_LE(apart, pairs / 4) << slower;
    EXPECT_EQ(one.in_use(), other.in_use()) << slower;
  }
}

TEST_P(GuardsOfRanks, KeepTheBudget) {
  for (const double slower : {0.1, 0.5, 0.98, 1.02, 1.5, 10.0}) {
    Guard guard(GetParam(), Way::tuned);
    Site site(slower, 1, 0.01, 7);
    site.run(guard, 1000);
    const double before_s = site.expected_s();
    site.run(guard, 10000);
    const double best = std::min(slower, 1.0);
    EXPECT_LT((site.expected_s() - before_s) / 10000, 1.012 * best) << slower;
  }
}

TEST(Guard, ACheckThatIsNotFinishedLeavesTheOthersWhereTheyAre) {
  Guard guard(Guard::Of::turns, Way::tuned);
  const Guard::Turn first = guard.next();
  EXPECT_TRUE(first.timed);
  guard.record(first.way, 1);
  EXPECT_TRUE(guard.next().timed);  // not recorded
  EXPECT_EQ(guard.checks(), 0U);
  // Another one is made, in the order of its place.
  const Guard::Turn again = guard.next();
  EXPECT_TRUE(again.timed);
  EXPECT_NE(again.way, first.way);
  guard.record(again.way, 1);
  guard.record(guard.next().way, 1);
  EXPECT_EQ(guard.checks(), 1U);
}

// What an execution takes that follows one in the other way says little.
TEST(Guard, JudgesWhatComesAfterTheChange) {
  Guard guard;
  Way before = Way::tuned;
  for (int i = 0; i < 200; ++i) {
    const Guard::Turn turn = guard.next();
    const double settled_s = turn.way == Way::tuned ? 0.7 : 1;
    const double changing_s = turn.way == Way::tuned ? 1.1 : 0.6;
    if (turn.timed) guard.record(turn.way, turn.way == before ? settled_s : changing_s);
    before = turn.way;
  }
  EXPECT_EQ(guard.in_use(), Way::tuned);
  EXPECT_NEAR(guard.balance().actual_s / guard.balance().baseline_s, 0.7, 0.05);
}

TEST(Guard, BeginsWithTheWayItIsGiven) {
  Guard guard(Guard::Of::turns, Way::baseline);
  EXPECT_EQ(guard.in_use(), Way::baseline);
  Site site(0.5, 1, 0.01, 1);
  site.run(guard, 100);
  EXPECT_EQ(guard.in_use(), Way::tuned);
}

// What is expected to be faster needs two checks, and what is not four.
TEST(Guard, AnExpectedGainIsFoundSoon) {
  for (const Guard::Of of : {Guard::Of::site, Guard::Of::tie}) {
    Guard guard(of, Way::baseline);
    Site site(0.85, 1, 0.01, 1);
    while (guard.in_use() == Way::baseline && guard.checks() < 20) site.run(guard, 1);
    EXPECT_EQ(guard.checks(), of == Guard::Of::site ? 2U : 4U);
  }
}

// What was expected to take as long may be faster, or slower, than what is in use.
TEST(Guard, FindsOutWhetherATieIsOne) {
  for (const double times : {0.5, 0.8, 0.95}) {
    Guard guard(Guard::Of::tie, Way::baseline);
    Site site(times, 1, 0.03, 1);
    site.run(guard, 200);
    EXPECT_EQ(guard.in_use(), Way::tuned) << times;
  }
  // Seldom by chance.
  int left = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Guard guard(Guard::Of::tie, Way::baseline);
    Site site(1.05, 1, 0.05, seed);
    site.run(guard, 100);
    left += guard.in_use() == Way::tuned ? 1 : 0;
  }
  EXPECT_LT(left, 4);
  for (const double times : {1.0, 1.03, 1.5, 10.0}) {
    Guard guard(Guard::Of::tie, Way::baseline);
    Site site(times, 1, 0.03, 1);
    site.run(guard, kWarmUp);
    const double before_s = site.expected_s();
    site.run(guard, 5000);
    EXPECT_LT((site.expected_s() - before_s) / 5000, 1.02) << times;
  }
}

TEST(Guard, ForgetsAPlanThatIsReplaced) {
  Guard guard;
  Site site(2, 1, 0.01, 1);
  site.run(guard, 100);
  EXPECT_EQ(guard.in_use(), Way::baseline);
  guard.restart(Guard::Of::site, Guard::Way::tuned);
  EXPECT_EQ(guard.in_use(), Way::tuned);
  EXPECT_EQ(guard.checks(), 0U);

  Guard tie(Guard::Of::tie, Way::baseline);
  Site faster(0.5, 1, 0.01, 1);
  faster.run(tie, 100);
  EXPECT_EQ(tie.in_use(), Way::tuned);
  tie.restart(Guard::Of::tie, Guard::Way::baseline);
  EXPECT_EQ(tie.in_use(), Way::baseline);
}

// A plan is reinstated by other times than these; a tie begins the simple way.
TEST(Guard, ReinstatesAPlanThatWasInUseFirst) {
  Guard guard;
  Site site(1.05, 1, 0.01, 1);
  site.run(guard, 100);
  ASSERT_EQ(guard.in_use(), Way::baseline);
  const uint32_t checks = guard.checks();
  guard.reinstate();
  EXPECT_EQ(guard.in_use(), Way::tuned);
  EXPECT_EQ(guard.checks(), checks);
  site.run(guard, 1000);
  EXPECT_EQ(guard.in_use(), Way::baseline);

  Guard tie(Guard::Of::tie, Way::baseline);
  tie.reinstate();
  EXPECT_EQ(tie.in_use(), Way::baseline);
}

}  // namespace
}  // namespace stripline::plan
