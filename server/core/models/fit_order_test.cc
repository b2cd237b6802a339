#include "server/core/models/fit_order.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

FittedCampaign ended(int64_t number, uint32_t runs, const std::string& fabric = "tcp") {
  FittedCampaign part;
  part.campaign.number = number;
  part.campaign.spec = *complete_spec({.fabric = fabric, .runs = 8});
  part.campaign.state = CampaignState::succeeded;
  part.campaign.stop_reason = "CONVERGED";
  part.campaign.requirements = {{"micro.latency", 2}};
  for (uint32_t run = 1; run <= 8; ++run) {
    RunRecord record;
    record.key = {number, run};
    record.state = run <= runs ? RunState::finished : RunState::cancelled;
    part.runs.push_back(record);
  }
  return part;
}

std::string reason(const FitOrder& order, const std::vector<FittedCampaign>& parts) {
  const auto spec = joint_spec(order, parts);
  return spec ? "" : spec.problem().reason;
}

TEST(FitOrder, RunsOfSeveralCampaignsCountTogether) {
  const FitOrder order{"both", {1, 2}, {{2, 1}}};
  const std::vector<FittedCampaign> parts = {ended(1, 2), ended(2, 3)};
  EXPECT_EQ(fitted_runs(order, parts), (std::vector<RunKey>{{1, 1}, {1, 2}, {2, 2}, {2, 3}}));
  const auto spec = joint_spec(order, parts);
  ASSERT_TRUE(spec) << spec.problem().message;
  EXPECT_EQ(spec->model, "models/both");
  EXPECT_EQ(spec->runs, 15U);
  EXPECT_EQ(joint_stop_reason(parts), "CONVERGED");
}

TEST(FitOrder, RefusesWhatIsNotOneThing) {
  const FitOrder order{"m", {1, 2}, {}};
  EXPECT_EQ(reason(order, {}), "INVALID_FIELD");
  EXPECT_EQ(reason(order, {ended(1, 8), ended(1, 8)}), "INVALID_FIELD");
  EXPECT_EQ(reason(order, {ended(1, 8), ended(2, 8, "shm")}), "INVALID_FIELD");
  FittedCampaign other = ended(2, 8);
  other.campaign.requirements["micro.latency"] = 3;
  EXPECT_EQ(reason(order, {ended(1, 8), other}), "INVALID_FIELD");
  other = ended(2, 8);
  other.campaign.state = CampaignState::running;
  EXPECT_EQ(reason(order, {ended(1, 8), other}), "CAMPAIGN_RUNNING");
  EXPECT_EQ(reason(order, {ended(1, 1), ended(2, 1)}), "TOO_FEW_RUNS");
  EXPECT_EQ(reason({"m", {1}, {{1, 9}}}, {ended(1, 8)}), "INVALID_FIELD");
  EXPECT_EQ(reason({"m", {1}, {{2, 1}}}, {ended(1, 8)}), "INVALID_FIELD");
}

TEST(FitOrder, ReadsWhatIsWritten) {
  const FitOrder order{"m", {3, 1}, {{1, 4}}};
  const auto read = fit_order_from_json(to_json(order));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->model, "m");
  EXPECT_EQ(read->campaigns, order.campaigns);
  EXPECT_EQ(read->without, order.without);
  EXPECT_FALSE(fit_order_from_json(Json::array()).ok());
}

}  // namespace
}  // namespace stripline::server
