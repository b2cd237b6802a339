#include "server/core/campaigns/campaign_waits.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

CampaignRecord waiting_for_quiet() {
  CampaignRecord record;
  record.number = 1;
  record.spec = *complete_spec({.fabric = "tcp", .time_budget_s = 60});
  return record;
}

TEST(CampaignWaits, PatienceIsUsedUpWhileHostsAreBusyOnly) {
  const CampaignRecord record = waiting_for_quiet();
  CampaignWaits waits;
  EXPECT_EQ(waits.patience_left_s(record, 100), 30);
  waits.lacks_nodes(1, true, 100);
  waits.lacks_nodes(1, true, 105);
  EXPECT_TRUE(waits.any_for_quiet());
  EXPECT_EQ(waits.patience_left_s(record, 110), 20);
  waits.lacks_nodes(1, false, 110);  // now for nodes
  EXPECT_FALSE(waits.any_for_quiet());
  EXPECT_EQ(waits.patience_left_s(record, 200), 20);
  waits.lacks_nodes(1, true, 200);
  waits.stop_waiting(1, 215);
  EXPECT_EQ(waits.patience_left_s(record, 300), 5);
  waits.forget(1);
  EXPECT_EQ(waits.patience_left_s(record, 300), 30);
}

TEST(CampaignWaits, OneThatWaitsIsOverdueFromItsBeginningOn) {
  CampaignWaits waits;
  EXPECT_FALSE(waits.is_overdue(1, 50, 1000));
  waits.lacks_nodes(1, false, 100);
  waits.lacks_nodes(1, false, 140);
  EXPECT_FALSE(waits.is_overdue(1, 50, 149));
  EXPECT_TRUE(waits.is_overdue(1, 50, 150));
  waits.stop_waiting(1, 150);
  EXPECT_FALSE(waits.is_overdue(1, 50, 1000));
}

TEST(CampaignWaits, TheNextEndIsTheEarliest) {
  CampaignWaits waits;
  std::map<int64_t, OpenCampaign> open;
  EXPECT_EQ(waits.next_end_s(open, 50, 100), std::nullopt);
  waits.pause(2, 90);  // over
  EXPECT_EQ(waits.next_end_s(open, 50, 100), std::nullopt);
  waits.pause(3, 170);
  EXPECT_TRUE(waits.is_paused(3, 169));
  EXPECT_FALSE(waits.is_paused(3, 170));
  EXPECT_EQ(waits.next_end_s(open, 50, 100), 170);
  open[1] = {waiting_for_quiet(), {}};
  waits.lacks_nodes(1, true, 100);
  EXPECT_EQ(waits.next_end_s(open, 50, 110), 130);  // of its patience
  EXPECT_EQ(waits.next_end_s(open, 20, 110), 120);  // of its waiting for nodes
}

TEST(CampaignWaits, FailuresAreCountedUntilTheCampaignHasEnded) {
  CampaignWaits waits;
  ++waits.failures_at(1)["a"];
  EXPECT_EQ(waits.failures_at(1)["a"], 1U);
  EXPECT_TRUE(waits.failures_at(2).empty());
  waits.forget(1);
  EXPECT_TRUE(waits.failures_at(1).empty());
}

}  // namespace
}  // namespace stripline::server
