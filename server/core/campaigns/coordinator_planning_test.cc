// What is known before a campaign exists.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "server/testing/service_test.h"
#include "server/testing/store_fixture.h"

namespace stripline::server {
namespace {

TEST_F(ServiceTest, AnEstimateRemembersBeyondMonthsOfSentinels) {
  std::vector<std::unique_ptr<AutoAgent>> agents;
  for (const char* node : {"a", "b"}) {
    agents.push_back(std::make_unique<AutoAgent>(address_, node));
  }
  ASSERT_TRUE(connected({"a", "b"}));
  const std::string first = created(small_spec()).name();
  ASSERT_EQ(watch(first).back().campaign().state(), v1::Campaign::SUCCEEDED);
  agents.clear();
  server_.reset();
  {
    auto store = open_sqlite_store(options_.data_dir / "stripline.db");
    ASSERT_TRUE(store.ok()) << store.error().message();
    Changes changes;
    for (int64_t number = 2; number <= 250; ++number) {
      changes.campaigns.push_back(campaign(number, std::to_string(number)));
      changes.campaigns.back().state = CampaignState::succeeded;
    }
    ASSERT_TRUE((*store)->apply(changes).ok());
  }
  start();
  for (const char* node : {"a", "b"}) {
    agents.push_back(std::make_unique<AutoAgent>(address_, node));
  }
  ASSERT_TRUE(connected({"a", "b"}));
  v1::EstimateCampaignRequest request;
  *request.mutable_spec() = small_spec();
  v1::CampaignEstimate estimate;
  grpc::ClientContext context;
  const grpc::Status status = campaigns_->EstimateCampaign(&context, request, &estimate);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(estimate.based_on(), first);
}

}  // namespace
}  // namespace stripline::server
