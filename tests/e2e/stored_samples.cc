#include "tests/e2e/stored_samples.h"

#include <cstdint>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "server/core/models/fit_job.h"
#include "server/store/point_records.h"

namespace stripline::e2e {
namespace {

// Each point of each run has been measured once in the attempt that counts.
void expect_campaign_is_whole(server::Store& store, const server::CampaignRecord& campaign) {
  EXPECT_EQ(campaign.state, server::CampaignState::succeeded) << campaign.message;
  std::map<uint32_t, std::multiset<std::string>> points;
  uint64_t samples = 0;
  const auto runs = store.runs(campaign.number);
  const auto batches = store.batches(campaign.number, 0, 100'000);
  ASSERT_TRUE(runs.ok() && batches.ok());
  for (const server::BatchRecord& batch : *batches) {
    samples += batch.samples;
    const server::RunRecord& run = runs->at(batch.run.run - 1);
    EXPECT_EQ(batch.orphan, batch.fence != run.fence) << server::run_name(batch.run);
    if (batch.orphan) continue;
    const auto series = server::series_of_batch(batch.data);
    ASSERT_TRUE(series.ok()) << series.error().message();
    for (const auto& one : *series) points[batch.run.run].insert(point_key(one.point));
  }
  EXPECT_EQ(samples, campaign.samples) << server::campaign_name(campaign.number);
  for (const server::RunRecord& run : *runs) {
    EXPECT_EQ(run.state, server::RunState::finished) << server::run_name(run.key);
    const auto& measured = points[run.key.run];
    EXPECT_EQ(measured.size(), run.points_total) << server::run_name(run.key);
    EXPECT_EQ(std::set<std::string>(measured.begin(), measured.end()).size(), run.points_total)
        << "a point of " << server::run_name(run.key) << " was stored twice";
  }
}

}  // namespace

void expect_all_is_stored(server::Store& store, const Ledger& ledger) {
  const auto campaigns = store.campaigns(0, 100'000);
  ASSERT_TRUE(campaigns.ok()) << campaigns.error().message();
  for (const auto& campaign : *campaigns) expect_campaign_is_whole(store, campaign);
  for (const auto& [batch, data] : ledger) {
    const auto& [assignment, fence, seq] = batch;
    const auto same = store.has_batch(*server::parse_run_name(assignment), fence, seq, data);
    ASSERT_TRUE(same.ok()) << same.error().message();
    EXPECT_EQ(*same, true) << "acknowledged: batch " << seq << " of " << assignment << ", fence "
                           << fence << (*same ? " is another one" : " is lost");
  }
}

}  // namespace stripline::e2e
