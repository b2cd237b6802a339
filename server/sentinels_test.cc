#include "server/sentinels.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "server/testing/service_test.h"

namespace stripline::server {
namespace {

TEST(SentinelPolicy, MeasuresAsTheVersionWasMeasured) {
  CampaignRecord campaign;
  campaign.spec.fabric = "emulated:x";
  campaign.spec.clock = "virtual";
  campaign.spec.nodes = 3;
  campaign.spec.ranks = 3;
  campaign.spec.cluster = "big";
  campaign.spec.effort = Effort::full;
  campaign.spec.time_budget_s = 900;
  campaign.spec.model = "models/x";
  const CampaignSpec sentinels = sentinel_spec(campaign, "emulated:x");
  EXPECT_EQ(sentinels.clock, "virtual");
  EXPECT_EQ(sentinels.nodes, 3U);
  EXPECT_EQ(sentinels.cluster, "big");
  EXPECT_EQ(sentinels.experiments, std::vector<std::string>{"micro.latency"});
  EXPECT_EQ(sentinels.model, "");
  EXPECT_LT(sentinels.time_budget_s, 900);
  const CampaignSpec replacement = replacement_spec(campaign, "emulated:x", "y");
  EXPECT_EQ(replacement.time_budget_s, 900);
  EXPECT_EQ(replacement.model, "models/y");
  EXPECT_EQ(sentinel_spec(std::nullopt, "tcp").fabric, "tcp");
}

TEST(SentinelPolicy, ASecondLookComesSoon) {
  ModelVersionRecord version;
  EXPECT_EQ(sentinels_due_unix_s(version, 1000, 100), 1100);
  version.checks = {{{"tcp", 1}, "campaigns/c2", 1200, {20, 1, 1}}};
  EXPECT_EQ(sentinels_due_unix_s(version, 1000, 100), 1300);
  EXPECT_EQ(sentinels_due_unix_s(version, 1250, 100), 1350) << "it became stable again";
  version.checks.push_back({{"tcp", 1}, "campaigns/c3", 1300, {20, 19, 2}});
  EXPECT_EQ(sentinels_due_unix_s(version, 1000, 100), 1310);
}

class SentinelsTest : public ServiceTest {
 protected:
  void SetUp() override {
    options_.sentinels = {0.5, StalePolicy::replace};
    ServiceTest::SetUp();
  }

  void start_agents(double slowness) {
    agents_.clear();
    AutoAgent::Options options;
    options.machine.o_base *= slowness;
    options.machine.L *= slowness;
    options.machine.G *= slowness;
    options.machine.r_base *= slowness;
    for (const char* node : {"a", "b"}) {
      agents_.push_back(std::make_unique<AutoAgent>(address_, node, options));
    }
    ASSERT_TRUE(connected({"a", "b"}));
  }

  v1::ModelVersion version(int number) {
    v1::GetModelVersionRequest request;
    request.set_name("models/tcp/versions/" + std::to_string(number));
    v1::ModelVersion version;
    grpc::ClientContext context;
    return models_->GetModelVersion(&context, request, &version).ok() ? version
                                                                      : v1::ModelVersion();
  }

  bool is_stable(int number) {
    const auto labels = version(number).labels();
    return std::ranges::find(labels, "stable") != labels.end();
  }

  std::vector<std::unique_ptr<AutoAgent>> agents_;
};

TEST_F(SentinelsTest, ANetworkThatHasChangedIsNoticedAndItsModelReplaced) {
  start_agents(1);
  v1::CampaignSpec spec;
  spec.set_fabric("tcp");
  ASSERT_EQ(watch(created(spec).name()).back().campaign().state(), v1::Campaign::SUCCEEDED);
  v1::PromoteModelVersionRequest promotion;
  promotion.set_name("models/tcp/versions/1");
  promotion.set_label("stable");
  v1::ModelVersion promoted;
  grpc::ClientContext context;
  const auto status = models_->PromoteModelVersion(&context, promotion, &promoted);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_TRUE(eventually([&] { return version(1).checks_size() >= 2; }));
  EXPECT_TRUE(is_stable(1));
  EXPECT_EQ(version(1).state(), v1::ModelVersion::PUBLISHED);

  start_agents(3);
  ASSERT_TRUE(eventually([&] { return version(1).state() == v1::ModelVersion::STALE; }));
  ASSERT_TRUE(eventually([&] { return is_stable(2); }));
  EXPECT_FALSE(is_stable(1));
  EXPECT_TRUE(eventually([&] { return version(2).checks_size() >= 1; }));
  EXPECT_EQ(version(2).state(), v1::ModelVersion::PUBLISHED);
  // The server that starts again knows what it has done.
  server_.reset();
  start();
  for (const auto& agent : agents_) agent->set_address(address_);
  const int checks = version(2).checks_size();
  ASSERT_TRUE(eventually([&] { return version(2).checks_size() > checks; }));
  EXPECT_EQ(version(3).name(), "");
}

}  // namespace
}  // namespace stripline::server
