#include "optimizer/plan/decision.h"

#include <cmath>

#include <gtest/gtest.h>

namespace stripline::plan {
namespace {

using Considered = Record<int, int>;

TEST(Weigh, LossesOfIndependentSourcesAddAsSquares) {
  Considered record;
  const Verdict verdict = weigh(1.0, 0.8, 0.02, {}, record, [](const auto& visit) {
    visit(Source::latency, false, 0.17);
    visit(Source::gap, true, 0.16);
    visit(Source::bandwidth, false, 0.3);  // errs in its favour, which does not count
  });
  EXPECT_NEAR(verdict.gain_low, 0.2 - 0.05, 1e-12);
  EXPECT_EQ(verdict.reason, Reason::tuned);
  EXPECT_TRUE(verdict.takes_candidate());
  EXPECT_EQ(verdict.predicted_s, 0.8);
  EXPECT_EQ(verdict.baseline_s, 1.0);
  ASSERT_EQ(record.sensitivities.size(), 3U);
  EXPECT_NEAR(record.sensitivities[0].gain_loss, 0.03, 1e-12);
  EXPECT_TRUE(record.sensitivities[1].of_baseline);
  EXPECT_EQ(record.sensitivities[2].gain_loss, 0);
}

TEST(Weigh, TheWholeMayTakeLongerThanItsParts) {
  Considered record;
  const Verdict verdict = weigh(1.0, 0.8, 0.02, {.composition = 0.05, .turns = 0.1}, record,
                                [](const auto& visit) { visit(Source::latency, false, 0.17); });
  ASSERT_EQ(record.sensitivities.size(), 3U);
  EXPECT_EQ(record.sensitivities[1].source, Source::composition);
  EXPECT_NEAR(record.sensitivities[1].gain_loss, 0.04, 1e-12);
  EXPECT_EQ(record.sensitivities[2].source, Source::turns);
  EXPECT_NEAR(record.sensitivities[2].gain_loss, 0.08, 1e-12);
  EXPECT_NEAR(verdict.gain_low, 0.2 - std::sqrt(0.0009 + 0.0016 + 0.0064), 1e-12);
}

TEST(Weigh, TheMarginHasToBeExceeded) {
  NoRecord record;
  const auto reason = [&](double minimum_gain) {
    return weigh(1.0, 0.8, minimum_gain, {}, record,
                 [](const auto& visit) { visit(Source::latency, false, 0.1); })
        .reason;
  };
  EXPECT_EQ(reason(0.09), Reason::tuned);
  EXPECT_EQ(reason(0.11), Reason::below_margin);
  const Verdict unsure = weigh(1.0, 0.8, 0.5, {}, record, [](const auto&) {});
  EXPECT_FALSE(unsure.takes_candidate());
  EXPECT_EQ(unsure.predicted_s, 1.0);
  EXPECT_EQ(weigh(0.0, 0.0, 0.02, {}, record, [](const auto&) {}).reason, Reason::below_margin);
}

TEST(Weigh, KeepsTheBaselineWhereNothingIsFaster) {
  const Verdict verdict = keep_baseline(3);
  EXPECT_EQ(verdict.reason, Reason::no_faster_plan);
  EXPECT_EQ(verdict.predicted_s, 3);
  EXPECT_EQ(verdict.gain_low, 0);
}

TEST(LeastRegret, TakesTheFasterOneWhereThatIsSure) {
  const LeastRegret sure = least_regret({-2, 0.1, 0.1}, {-1, 0.1, 0.1});
  EXPECT_FALSE(sure.uncertain);
  EXPECT_LT(sure.faster_loses, 0);
  EXPECT_GT(sure.other_loses, 0);
}

TEST(LeastRegret, TakesTheOneThatLosesLessWhereItIsNot) {
  const LeastRegret alike = least_regret({-1.1, 0.3, 0.3}, {-1, 0.3, 0.3});
  EXPECT_TRUE(alike.uncertain);
  EXPECT_LT(alike.faster_loses, alike.other_loses) << "both may err as much";
  // The faster one may take e^0.5 times as long, the other one not.
  const LeastRegret loose = least_regret({-1.1, 0.1, 0.5}, {-1, 0.1, 0.1});
  EXPECT_TRUE(loose.uncertain);
  EXPECT_GT(loose.faster_loses, loose.other_loses);
  // Independent errors add as squares: 0.3 and 0.4 make 0.5.
  EXPECT_TRUE(least_regret({-1.49, 0.1, 0.3}, {-1, 0.4, 0.1}).uncertain);
  EXPECT_FALSE(least_regret({-1.51, 0.1, 0.3}, {-1, 0.4, 0.1}).uncertain);
}

}  // namespace
}  // namespace stripline::plan
