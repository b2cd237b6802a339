#include "server/core/campaigns/campaign_estimate.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

CampaignPlan usual_plan(double point_s = 0.01) {
  CampaignPlan plan;
  plan.spec.fabric = "tcp";
  plan.pace = {1, point_s};
  plan.able_nodes = 3;
  return plan;
}

CampaignSnapshot fresh() {
  CampaignSnapshot campaign;
  campaign.spec.nodes = 2;
  campaign.spec.time_budget_s = 60;
  campaign.spec.width = 0.05;
  campaign.pilot = true;
  for (uint32_t run = 1; run <= 8; ++run) {
    RunSnapshot one;
    one.run = run;
    one.points_least = 10;
    one.points_core = 40;
    one.points_all = 100;
    campaign.runs.push_back(one);
  }
  return campaign;
}

std::vector<std::string> kinds(const CampaignEstimate& estimate) {
  std::vector<std::string> names;
  for (const Risk& risk : estimate.risks) {
    EXPECT_FALSE(risk.message.empty());
    names.emplace_back(to_string(risk.kind));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(CampaignEstimate, SaysWhatIsAGuess) {
  const CampaignEstimate estimate = estimate_of(usual_plan(), fresh(), std::nullopt);
  EXPECT_EQ(estimate.points, 100U);
  EXPECT_EQ(estimate.forecast.runs, 8U);
  EXPECT_EQ(estimate.based_on, "");
  EXPECT_EQ(kinds(estimate), Names{"UNKNOWN_PACE"});
}

TEST(CampaignEstimate, FindsNothingAgainstWhatIsKnownToDo) {
  const EarlierCampaign earlier{"campaigns/c1", {1, 0.02}, campaign::EarlierWidth{0.04, 7}};
  const CampaignEstimate estimate = estimate_of(usual_plan(), fresh(), earlier);
  EXPECT_EQ(estimate.based_on, "campaigns/c1");
  EXPECT_EQ(kinds(estimate), Names{});
  EXPECT_LT(estimate.forecast.runs, 8U);
}

TEST(CampaignEstimate, TellsWhatAPaceDoesToTheResult) {
  const auto of = [](double point_s) {
    return kinds(
        estimate_of(usual_plan(), fresh(), EarlierCampaign{"campaigns/c1", {1, point_s}, {}}));
  };
  EXPECT_EQ(of(0.1), Names{"COARSE_GRID"});
  EXPECT_EQ(of(0.7), (Names{"SLOWER", "COARSE_GRID"}));
  EXPECT_EQ(of(1.2), (Names{"PROVISIONAL", "COARSE_GRID"}));
  EXPECT_EQ(of(5), (Names{"NO_RESULT", "COARSE_GRID"}));
}

TEST(CampaignEstimate, TellsThatTheWidthOrANodeIsMissing) {
  CampaignPlan tight = usual_plan();
  tight.able_nodes = 2;
  const EarlierCampaign wide{"campaigns/c1", {1, 0.01}, campaign::EarlierWidth{0.3, 8}};
  EXPECT_EQ(kinds(estimate_of(tight, fresh(), wide)), (Names{"WIDE", "NO_SPARE_NODE"}));
}

TEST(CampaignEstimate, LearnsFromFinishedRunsAlone) {
  CampaignRecord record;
  record.number = 3;
  record.width = 0.07;
  std::vector<RunRecord> runs(3);
  EXPECT_FALSE(learnt_from(record, runs));
  for (RunRecord& run : runs) {
    run.points_total = 10;
    run.start_s = 2;
    run.duration_s = 4;
  }
  runs[0].state = runs[1].state = RunState::finished;
  const auto learnt = learnt_from(record, runs);
  ASSERT_TRUE(learnt);
  EXPECT_EQ(learnt->name, "campaigns/c3");
  EXPECT_DOUBLE_EQ(learnt->pace.point_s, 0.2);
  EXPECT_EQ(learnt->width->runs, 2U);
}

TEST(CampaignEstimate, IsLikeWhatMeasuresTheSame) {
  const CampaignSpec one = *complete_spec({.fabric = "tcp"});
  CampaignSpec other = one;
  other.runs = 12;
  other.time_budget_s = 600;
  other.width = 0.01;
  EXPECT_TRUE(is_like(one, other));
  other.ranks = 4;
  EXPECT_FALSE(is_like(one, other));
}

}  // namespace
}  // namespace stripline::server
