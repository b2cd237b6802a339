#include "server/core/operations/retention.h"

#include <gtest/gtest.h>

#include "base/testing/processes.h"
#include "server/core/coordinator.h"
#include "server/core/models/fit_job.h"
#include "server/core/watch_hub.h"
#include "server/store/sqlite_store.h"

namespace stripline::server {
namespace {

constexpr double kNow = 1e9;
constexpr double kDay = 86400;

class RetentionTest : public testing::Test {
 protected:
  RetentionTest() {
    auto store = open_sqlite_store(folder_ / "stripline.db");
    EXPECT_TRUE(store.ok());
    store_ = std::move(*store);
    coordinator_ =
        std::make_unique<Coordinator>(*store_, hub_, meters_, fit_in_process, CoordinatorOptions());
  }

  // A campaign of one run with this many batches of a kilobyte that does not compress.
  void add(int64_t number, double ended_unix_s, CampaignState state = CampaignState::failed,
           uint64_t batches = 1) {
    Changes changes;
    CampaignRecord campaign;
    campaign.number = number;
    campaign.state = state;
    campaign.request_id = "r" + std::to_string(number);
    campaign.updated_unix_s = ended_unix_s;
    campaign.samples = 10;
    changes.campaigns.push_back(campaign);
    RunRecord run;
    run.key = {number, 1};
    run.fence = 1;
    changes.runs.push_back(run);
    changes.plans.push_back({run.key, "{}"});
    changes.points.push_back({number, {{"micro.latency", "put", {{"bytes", int64_t{8}}}}}});
    changes.attempts.push_back({run.key, 1, "a"});
    changes.facts.push_back({run.key, 1, "a", {{"cpu", std::to_string(number)}}});
    changes.events.push_back({0, number, ended_unix_s, "ended", "{}"});
    for (uint64_t seq = 1; seq <= batches; ++seq) {
      BatchRecord batch;
      batch.run = run.key;
      batch.fence = 1;
      batch.seq = seq;
      batch.data = noise(1024);
      changes.batches.push_back(batch);
    }
    ASSERT_TRUE(store_->apply(changes).ok());
  }

  void publish(int64_t campaign) {
    NewModelVersion version;
    version.record.key = {"tcp", 1};
    version.record.campaigns = {campaign_name(campaign)};
    version.content = "{}";
    Changes changes;
    changes.versions.push_back(version);
    ASSERT_TRUE(store_->apply(changes).ok());
  }

  std::vector<int64_t> kept() {
    std::vector<int64_t> numbers;
    const auto campaigns = *store_->campaigns(0, 100);
    for (const CampaignRecord& campaign : campaigns) {
      numbers.push_back(campaign.number);
    }
    return numbers;
  }

  Status tidy(const RetentionLimits& limits) {
    return Retention(*coordinator_, *store_, limits).tidy(kNow);
  }

  std::string noise(size_t size) {
    std::string bytes;
    while (bytes.size() < size) {
      state_ = state_ * 6364136223846793005 + 1442695040888963407;
      bytes += static_cast<char>(state_ >> 56);
    }
    return bytes;
  }

  TempFolder folder_;
  std::unique_ptr<Store> store_;
  Meters meters_;
  WatchHub hub_;
  std::unique_ptr<Coordinator> coordinator_;
  uint64_t state_ = 1;
};

TEST_F(RetentionTest, WithoutLimitsAllIsKept) {
  add(1, 0);
  EXPECT_TRUE(tidy({}).ok());
  EXPECT_EQ(kept(), std::vector<int64_t>{1});
}

TEST_F(RetentionTest, DeletesWhatEndedLongAgoAndNoModelNeeds) {
  add(1, kNow - 40 * kDay);
  add(2, kNow - 40 * kDay, CampaignState::succeeded);
  publish(2);
  add(3, kNow - 40 * kDay, CampaignState::running);
  add(4, kNow - 20 * kDay);
  ASSERT_TRUE(tidy({.keep_s = 30 * kDay}).ok());
  EXPECT_EQ(kept(), (std::vector<int64_t>{4, 3, 2}));
  EXPECT_FALSE(*store_->campaign(1));
  EXPECT_FALSE(*store_->campaign_of_request("users/a", "r1"));
  EXPECT_TRUE(store_->runs(1)->empty());
  EXPECT_TRUE(store_->batches(1, 0, 10)->empty());
  EXPECT_TRUE(store_->events(1, 0, 10)->empty());
  EXPECT_FALSE(*store_->attempt({1, 1}, 1));
  EXPECT_FALSE(store_->run_plan({1, 1}).ok());
  EXPECT_TRUE(store_->points(1, {}, 0, 10)->empty());
  EXPECT_FALSE(store_->batches(2, 0, 10)->empty());
  const auto audit = store_->audit(0, 10);
  ASSERT_EQ(audit->size(), 1U);
  EXPECT_EQ(audit->front().object, "campaigns/c1");
  EXPECT_NE(meters_.text().find("\nstripline_samples_deleted_total 10\n"), std::string::npos);
  EXPECT_EQ(*store_->next_campaign_number(), 5) << "a number is given out once";
}

// Lists of what may go are older than what is done with them.
TEST_F(RetentionTest, WhatGoesOnAgainStays) {
  add(1, kNow - 40 * kDay, CampaignState::queued);
  EXPECT_FALSE(*coordinator_->campaigns().delete_expendable(1, "server", "it was due"));
  add(2, kNow - 40 * kDay, CampaignState::succeeded);
  publish(2);
  EXPECT_FALSE(*coordinator_->campaigns().delete_expendable(2, "server", "it was due"));
  EXPECT_FALSE(*coordinator_->campaigns().delete_expendable(3, "server", "it was due"));
  EXPECT_EQ(kept(), (std::vector<int64_t>{2, 1}));
  EXPECT_TRUE(store_->audit(0, 10)->empty());
}

TEST_F(RetentionTest, DeletesForRoomWhatEndedFirst) {
  for (int64_t number = 1; number <= 4; ++number) {
    const double days = number == 3 ? 9 : static_cast<double>(number);
    add(number, kNow - days * kDay, CampaignState::cancelled, 300);
  }
  add(5, kNow - 60, CampaignState::failed, 300);
  const uint64_t used = store_->size()->used_bytes();
  ASSERT_TRUE(tidy({.keep_bytes = used - 600'000}).ok());
  EXPECT_EQ(kept(), (std::vector<int64_t>{5, 2, 1}));
  EXPECT_LE(store_->size()->used_bytes(), used - 600'000);
  EXPECT_GT(store_->size()->free_bytes, 0U) << "for what comes";
  // One that has just ended stays, whatever the room.
  ASSERT_TRUE(tidy({.keep_bytes = 1}).ok());
  EXPECT_EQ(kept(), std::vector<int64_t>{5});
}

TEST_F(RetentionTest, WhatWasLeftHalfDoneIsGoneOnWith) {
  add(1, kNow - 40 * kDay, CampaignState::failed, 300);
  ASSERT_TRUE(store_->apply({.deleted_campaigns = {1}}).ok());
  ASSERT_TRUE(*store_->sweep()) << "it does not do everything at once";
  ASSERT_TRUE(tidy({}).ok());
  EXPECT_FALSE(*store_->sweep());
  EXPECT_TRUE(store_->runs(1)->empty());
}

}  // namespace
}  // namespace stripline::server
