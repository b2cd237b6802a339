#include "runtime/decide/site.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace stripline::decide {
namespace {

// What a planner predicts of its plan.
struct Prediction {
  double predicted_s = 0;
  double baseline_s = 0;
  double gain_low = 0;
};

Prediction prediction_of(double tuned_s, double baseline_s) {
  constexpr double kDoubt = 0.05;
  return {tuned_s, baseline_s, 1 - (1 + kDoubt) * tuned_s / baseline_s};
}

// Many runs of one program, as a part of what they would have taken as the baseline.
struct Runs {
  double taken_s = 0;
  double baseline_s = 0;
  double excess_s = 0;

  double ratio() const { return taken_s / baseline_s; }
  double share() const { return excess_s / taken_s; }
};

// A place as loops and nests have it, whose executions scatter by a fifth: two of them as the
// baseline, and then what the planner says, if it outweighs what the model was seen to err by.
void run(const Prediction& promise, double tuned_s, double baseline_s, int steps, uint64_t seed,
         Runs& runs) {
  std::mt19937_64 random(seed);
  const auto scattered = [&](double seconds) {
    return seconds * std::exp(std::normal_distribution<>(-0.02, 0.2)(random));
  };
  Site<Prediction> site;
  double first_s = 0;
  for (uint32_t i = 0; i < Refinement::kFirst; ++i) {
    const double seconds = scattered(baseline_s);
    first_s += seconds;
    site.refinement.note(0);
    site.refinement.note_baseline(seconds);
  }
  if (site.outweighs(promise)) {
    site.decide(1, promise);
  } else {
    site.compare(1, promise, Race::Of::site);
  }
  site.expect(promise);
  for (int i = Refinement::kFirst; i < steps; ++i) {
    const Race::Turn turn = site.race().next();
    site.race().record(turn, scattered(turn.arm == kBaseline ? baseline_s : tuned_s));
  }
  Savings savings;
  site.race().add_to(savings);
  runs.taken_s += first_s + savings.taken_s;
  runs.baseline_s += steps * baseline_s;
  runs.excess_s += savings.excess_s;
}

Runs run(const Prediction& promise, double tuned_s, int steps) {
  Runs runs;
  for (uint64_t seed = 0; seed < 6000U / static_cast<uint64_t>(steps) + 5; ++seed) {
    run(promise, tuned_s, 1, steps, seed, runs);
  }
  return runs;
}

// It predicts that all takes this many times as long as it does, and that the plan is the faster
// method.
TEST(Site, AModelOfAnotherNetworkLosesNothing) {
  for (const double times : {1.0 / 3, 1.5, 3.0, 10.0}) {
    for (const double predicted : {0.6, 0.8, 0.95}) {
      for (const int steps : {30, 200, 1000}) {
        Runs all;
        for (const double tuned_s : {0.64, 0.9, 1.1, 1.57, 3.0}) {
          const Runs runs = run(prediction_of(times * predicted, times), tuned_s, steps);
          EXPECT_LT(runs.ratio(), 1.05)
              << times << " times, " << predicted << ", " << tuned_s << ", " << steps << " steps";
          all.taken_s += runs.taken_s;
          all.excess_s += runs.excess_s;
        }
        EXPECT_LT(all.share(), 0.01)
            << times << " times, " << predicted << ", " << steps << " steps";
      }
    }
  }
}

TEST(Site, TheModelOfItsNetworkKeepsItsGain) {
  for (const double tuned_s : {0.5, 0.65, 0.8}) {
    for (const int steps : {30, 200, 1000}) {
      const Runs runs = run(prediction_of(tuned_s, 1), tuned_s, steps);
      // The first executions cost some of it, and runs whose baseline was disturbed in them.
      const double left = (1 - tuned_s) * (steps == 30 ? 0.5 : 0.3);
      EXPECT_LT(runs.ratio(), tuned_s + left) << tuned_s << ", " << steps;
      EXPECT_LT(runs.share(), 0.01) << tuned_s << ", " << steps;
    }
  }
}

// A ratio that is predicted by a model which takes the network to be half as fast as it is.
TEST(Site, OnlyWhatTheBaselineWasSeenToTakeCountsForAModelOfAnotherNetwork) {
  Site<Prediction> site;
  site.refinement.note_baseline(1);
  EXPECT_TRUE(site.outweighs(prediction_of(0.7, 1.1)));
  EXPECT_FALSE(site.outweighs(prediction_of(0.8, 2))) << "a gain of 60 %, of which nothing is left";
  EXPECT_TRUE(site.outweighs(prediction_of(0.3, 2))) << "faster than what was seen, by far";
}

}  // namespace
}  // namespace stripline::decide
