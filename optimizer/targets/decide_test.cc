#include "optimizer/targets/decide.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace stripline::targets {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr Cell kCell{.collective = Collective::bcast, .ranks = 4, .bytes = 1024};

// Times around `mean`, of runs that are alike but for a small wave, which depends on `phase`.
std::vector<double> times(double mean, double spread, size_t runs = 8, double phase = 0) {
  std::vector<double> all;
  for (size_t i = 0; i < runs; ++i) {
    all.push_back(mean * (1 + spread * std::sin(1.7 * static_cast<double>(i) + phase)));
  }
  return all;
}

CellDecision decide(const std::vector<Alternative>& alternatives) {
  const auto decision = decide_cell(kCell, alternatives, {});
  EXPECT_TRUE(decision.ok());
  return decision.ok() ? *decision : CellDecision{};
}

TEST(DecideCell, DepartsForAGainBeyondTheMargin) {
  const auto decision =
      decide({{"default", times(10e-6, 0.01)}, {"ring", times(6e-6, 0.01, 8, 1)}});
  EXPECT_EQ(decision.outcome, Outcome::departs);
  EXPECT_EQ(decision.chosen, 1U);
  EXPECT_NEAR(decision.ratio.value, 0.6, 0.02);
  EXPECT_EQ(decision.eligible, std::vector<size_t>{1});
}

TEST(DecideCell, AGainWithinTheMarginStaysAtTheDefault) {
  // Two percent for certain is not three.
  const auto decision =
      decide({{"default", times(10e-6, 0.001)}, {"ring", times(9.8e-6, 0.001, 8, 1)}});
  EXPECT_EQ(decision.chosen, 0U);
  EXPECT_EQ(decision.outcome, Outcome::default_best);
  EXPECT_NEAR(decision.ratio.value, 0.98, 0.002);
}

TEST(DecideCell, ATieStaysAtTheDefault) {
  const auto decision = decide({{"default", times(10e-6, 0.2)}, {"ring", times(9e-6, 0.2, 8, 2)}});
  EXPECT_EQ(decision.chosen, 0U);
  EXPECT_EQ(decision.outcome, Outcome::tie);
}

TEST(DecideCell, FewRunsDecideNothing) {
  const auto decision =
      decide({{"default", times(10e-6, 0.01, 3)}, {"ring", times(5e-6, 0.01, 3, 1)}});
  EXPECT_EQ(decision.chosen, 0U);
  EXPECT_EQ(decision.outcome, Outcome::few_runs);
  // Four launches, but only three of them with both.
  auto ring = times(5e-6, 0.01, 4, 1);
  ring[2] = kMissing;
  EXPECT_EQ(decide({{"default", times(10e-6, 0.01, 4)}, {"ring", ring}}).outcome,
            Outcome::few_runs);
}

TEST(DecideCell, WhatFailedIsNotChosenHoweverFastItWas) {
  const auto decision = decide({{"default", times(10e-6, 0.01)},
                                {"ring", times(1e-6, 0.01), "gave wrong data"},
                                {"linear", times(6e-6, 0.01)}});
  EXPECT_EQ(decision.chosen, 2U);
  EXPECT_EQ(decide({{"default", times(1e-5, 0.01)}, {"ring", times(1e-6, 0.01), "hung"}}).chosen,
            0U);
}

TEST(DecideCell, ManyAlternativesShareTheConfidence) {
  // Alone its gain is beyond doubt; as one of thirty it may be luck.
  const std::vector<double> usual = times(10e-6, 0.01, 4);
  const std::vector<double> lucky = {9.2e-6, 9.3e-6, 9.5e-6, 8.9e-6};
  EXPECT_EQ(decide({{"default", usual}, {"ring", lucky}}).chosen, 1U);
  std::vector<Alternative> many = {{"default", usual}, {"ring", lucky}};
  for (int i = 0; i < 29; ++i) many.push_back({"slow", times(12e-6, 0.01, 4, i)});
  EXPECT_EQ(decide(many).chosen, 0U);
}

TEST(DecideCell, RefusesWhatAreNoTimes) {
  const std::vector<Alternative> zero = {{"default", {1e-6, 1e-6}}, {"ring", {0, 1e-6}}};
  EXPECT_FALSE(decide_cell(kCell, zero, {}).ok());
  const std::vector<Alternative> ragged = {{"default", {1e-6, 1e-6}}, {"ring", {1e-6}}};
  EXPECT_FALSE(decide_cell(kCell, ragged, {}).ok());
  EXPECT_FALSE(decide_cell(kCell, {}, {}).ok());
}

TEST(SettleRow, PrefersWhatHoldsAtNeighbouringSizes) {
  const auto cell = [](std::vector<double> means) {
    std::vector<Alternative> all;
    for (const double mean : means) all.push_back({"a", times(mean, 0.001)});
    return *decide_cell(kCell, all, {});
  };
  // The second cell is won by 1 by a hair, its neighbours by 2.
  std::vector<CellDecision> row = {cell({10, 8, 6}), cell({10, 6, 6.05}), cell({10, 8, 6}),
                                   cell({10, 10, 10})};
  EXPECT_EQ(row[1].chosen, 1U);
  settle_row(row);
  EXPECT_EQ(row[0].chosen, 2U);
  EXPECT_EQ(row[1].chosen, 2U);
  EXPECT_NEAR(row[1].ratio.value, 0.605, 1e-3);
  EXPECT_EQ(row[2].chosen, 2U);
  EXPECT_EQ(row[3].chosen, 0U);  // at the default, whatever its neighbours do
}

CellTimes pair(double usual, double value, double spread, size_t runs = 8) {
  return {kCell, times(usual, spread, runs), times(value, spread, runs, 1)};
}

TEST(DecideKnob, OneWithoutEffectIsReportedAsSuch) {
  const std::vector<CellTimes> cells = {pair(1, 1.001, 0.003), pair(2, 1.999, 0.003)};
  const auto decision = *decide_knob(cells, {});
  EXPECT_EQ(decision.outcome, KnobOutcome::no_effect);
  EXPECT_NE(describe(decision).find("no effect measured"), std::string::npos);
}

TEST(DecideKnob, AGainThatCostsACellIsNotTaken) {
  const std::vector<CellTimes> gains = {pair(1, 0.5, 0.01), pair(2, 1.0, 0.01)};
  EXPECT_EQ(decide_knob(gains, {})->outcome, KnobOutcome::departs);
  const std::vector<CellTimes> mixed = {pair(1, 0.5, 0.01), pair(2, 2.4, 0.01)};
  const auto decision = *decide_knob(mixed, {});
  EXPECT_EQ(decision.outcome, KnobOutcome::loses);
  EXPECT_EQ(decision.worst, 1U);
}

TEST(DecideKnob, BoundsAreNamedFromTheSmallerOne) {
  KnobDecision decision{.outcome = KnobOutcome::departs, .ratio = {0.88, 0.85, 0.91, 4}};
  EXPECT_EQ(describe(decision), "faster by 12.0 % (9.0 % to 15.0 %)");
  decision = {.outcome = KnobOutcome::slower, .ratio = {1.05, 1.04, 1.06, 4}};
  EXPECT_EQ(describe(decision), "slower by 5.0 % (4.0 % to 6.0 %)");
}

TEST(DecideKnob, OppositeEffectsAreNotNone) {
  // The mean over both is 1.
  const std::vector<CellTimes> cells = {pair(1, 0.97 * 0.97, 0.001), pair(1, 1.02, 0.001)};
  EXPECT_NE(decide_knob(cells, {})->outcome, KnobOutcome::no_effect);
}

TEST(JudgeCells, ASlowerCellIsFound) {
  const std::vector<CellTimes> cells = {pair(1, 1.0, 0.005), pair(1, 1.1, 0.005),
                                        pair(1, 1.0, 0.3)};
  const auto verdicts = *judge_cells(cells, {});
  EXPECT_EQ(verdicts[0].test.verdict, stats::NonInferiority::non_inferior);
  EXPECT_EQ(verdicts[1].test.verdict, stats::NonInferiority::inferior);
  EXPECT_EQ(verdicts[2].test.verdict, stats::NonInferiority::inconclusive);
}

TEST(JudgeCells, ManyCellsShareTheRiskOfAFalseAlarm) {
  // Slower by about 6 % in four of five pairs: alone it is found, among a hundred it may be chance.
  const CellTimes unlucky = {kCell, {1, 1, 1, 1, 1}, {1.07, 1.06, 1.08, 1.02, 1.09}};
  EXPECT_EQ((*judge_cells(std::span(&unlucky, 1), {}))[0].test.verdict,
            stats::NonInferiority::inferior);
  std::vector<CellTimes> many(100, pair(1, 1, 0.005));
  many.push_back(unlucky);
  EXPECT_EQ(judge_cells(many, {})->back().test.verdict, stats::NonInferiority::inconclusive);
}

TEST(JudgeCells, WhatIsInconclusiveIsAcceptedWhereItsLossIsBounded) {
  using stats::NonInferiority;
  const auto accepted = [](NonInferiority verdict, double upper) {
    return is_accepted({.verdict = verdict, .ratio = 1, .lower = 0.9, .upper = upper});
  };
  EXPECT_TRUE(accepted(NonInferiority::non_inferior, 1.01));
  EXPECT_TRUE(accepted(NonInferiority::non_inferior, 1.5));  // of a larger margin
  EXPECT_TRUE(accepted(NonInferiority::inconclusive, 1.09));
  EXPECT_FALSE(accepted(NonInferiority::inconclusive, 1.11));
  EXPECT_FALSE(accepted(NonInferiority::inferior, 1.09));
  EXPECT_FALSE(accepted(NonInferiority::inconclusive, std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(is_accepted({}));  // without pairs
}

TEST(Probe, OnlyATimeThatJumpsProvesReading) {
  EXPECT_TRUE(proven_by_probe(times(1, 0.05), times(2, 0.05, 8, 1)).ok());
  const auto same = proven_by_probe(times(1, 0.05), times(1, 0.05, 8, 1));
  ASSERT_FALSE(same.ok());
  EXPECT_NE(same.error().message().find("does not read"), std::string::npos);
  // Slower, but too few pairs; and slower on average only.
  EXPECT_FALSE(proven_by_probe(times(1, 0.05, 3), times(2, 0.05, 3)).ok());
  auto mostly = times(2, 0.05);
  mostly[3] = 0.5;
  EXPECT_FALSE(proven_by_probe(times(1, 0.05), mostly).ok());
}

}  // namespace
}  // namespace stripline::targets
