#include "server/core/campaigns/campaign_view.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

CampaignRecord record() {
  CampaignRecord r;
  r.number = 4;
  r.spec = *complete_spec({.fabric = "tcp"});
  r.state = CampaignState::running;
  r.message = "run 2 of 3 started";
  r.planned_run_s = 5;
  r.samples = 12;
  return r;
}

std::vector<RunRecord> runs() {
  std::vector<RunRecord> all(3);
  for (uint32_t i = 0; i < 3; ++i) {
    all[i].key = {4, i + 1};
    all[i].points_total = 10;
  }
  return all;
}

TEST(CampaignView, CountsPointsAndRuns) {
  auto r = runs();
  r[0].state = RunState::finished;
  r[0].points_done = 10;
  r[0].duration_s = 8;
  r[1].state = RunState::active;
  r[1].points_done = 4;
  const CampaignView view = view_of(record(), r, 3.0);
  EXPECT_EQ(view.name, "campaigns/c4");
  EXPECT_EQ(view.points_done, 14U);
  EXPECT_EQ(view.points_total, 30U);
  EXPECT_EQ(view.runs_done, 1U);
  EXPECT_EQ(view.runs_total, 3U);
  EXPECT_DOUBLE_EQ(view.seconds_left, 2 * 8 - 3);
}

TEST(CampaignView, EstimatesFromThePlanUntilARunHasFinished) {
  EXPECT_DOUBLE_EQ(view_of(record(), runs(), std::nullopt).seconds_left, 15);
  // An active run that takes longer than planned does not make the estimate negative.
  EXPECT_DOUBLE_EQ(view_of(record(), runs(), 9.0).seconds_left, 10);
}

TEST(CampaignView, NeverPromisesMoreThanTheBudget) {
  CampaignRecord r = record();
  r.measured_s = 52;
  EXPECT_DOUBLE_EQ(view_of(r, runs(), 1.0).seconds_left, 7);
}

TEST(CampaignView, NothingIsLeftOfAFinishedCampaign) {
  CampaignRecord r = record();
  r.state = CampaignState::cancelled;
  EXPECT_DOUBLE_EQ(view_of(r, runs(), std::nullopt).seconds_left, 0);
}

TEST(CampaignView, JsonRoundTrips) {
  const CampaignView view = view_of(record(), runs(), std::nullopt);
  const auto read = campaign_view_from_json(to_json(view));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(to_json(*read), to_json(view));
  EXPECT_FALSE(campaign_view_from_json(Json::object()).ok());
  Json broken = to_json(view);
  broken["state"] = "SLEEPING";
  EXPECT_FALSE(campaign_view_from_json(broken).ok());
}

}  // namespace
}  // namespace stripline::server
