// Campaigns that choose what to measure next, on a real server.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "server/testing/service_test.h"

namespace stripline::server {
namespace {

constexpr double kSwitchBytes = 12 << 10;

class CampaignLoopTest : public ServiceTest {
 protected:
  void start_agents() {
    AutoAgent::Options options;
    options.machine.switch_bytes = kSwitchBytes;
    options.machine.more_L = 40e-6;
    options.machine.slow_loops = 1.8;
    ServiceTest::start_agents(options);
  }

  std::vector<v1::PlannedPoint> latencies(const std::string& name) {
    v1::ListPointsRequest request;
    request.set_name(name);
    request.set_experiment("micro.latency");
    request.set_variant("get");
    request.set_page_size(1000);
    v1::ListPointsResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(campaigns_->ListPoints(&context, request, &response).ok());
    return {response.points().begin(), response.points().end()};
  }

  // The campaign has found the switch, and ended for that.
  void expect_found(const std::string& name) {
    const v1::Campaign end = watch(name).back().campaign();
    ASSERT_EQ(end.state(), v1::Campaign::SUCCEEDED) << end.message();
    EXPECT_EQ(end.stop_reason(), "CONVERGED") << end.message();
    EXPECT_EQ(end.points_done(), end.points_total());
    EXPECT_GT(end.node_s(), 0);
    double below = 0;
    double above = 1e9;
    for (const v1::PlannedPoint& point : latencies(name)) {
      const double bytes = std::stod(point.params().at("bytes"));
      EXPECT_GE(point.runs_done(), 6U) << bytes;
      if (bytes < kSwitchBytes) below = std::max(below, bytes);
      if (bytes >= kSwitchBytes) above = std::min(above, bytes);
    }
    EXPECT_LE(above, 1.1 * below);
    EXPECT_EQ(exported(name).size(), end.points_total());
  }
};

TEST_F(CampaignLoopTest, ASwitchIsFound) {
  start_agents();
  const std::string name = created(model_spec()).name();
  expect_found(name);
  EXPECT_GT(get(name).runs_done(), 8U);  // what was added needs runs, too
}

TEST_F(CampaignLoopTest, AServerThatStartsAgainGoesOnAsItWould) {
  start_agents();
  const std::string name = created(model_spec()).name();
  ASSERT_TRUE(eventually([&] { return get(name).runs_done() >= 4; }));
  server_.reset();
  start();
  for (const auto& agent : agents_) agent->set_address(address_);
  expect_found(name);
}

// What a paired test has found slower is measured no more; what was slow in the campaign before, on
// the same machine, not at all.
TEST_F(CampaignLoopTest, ARaceEndsWhenAllIsSettledAndTheNextOneKnows) {
  start_agents();
  v1::CampaignSpec spec = small_spec(8);
  spec.set_race(true);
  const v1::Campaign queued = created(spec);
  EXPECT_EQ(queued.spec().prior(), "nearest");
  const v1::Campaign first = watch(queued.name()).back().campaign();
  ASSERT_EQ(first.state(), v1::Campaign::SUCCEEDED) << first.message();
  EXPECT_EQ(first.stop_reason(), "CONVERGED");
  EXPECT_GT(first.runs_done(), 1U);
  EXPECT_LT(first.runs_done(), 8U);

  v1::Campaign second;
  ASSERT_TRUE(create(spec, second).ok());
  const auto events = watch(second.name());
  EXPECT_NE(events.front().message().find("begins with 4 of 8 points, what " + first.name()),
            std::string::npos)
      << events.front().message();
  EXPECT_EQ(events.back().campaign().stop_reason(), "CONVERGED");
  EXPECT_EQ(events.back().campaign().runs_done(), 1U);
  EXPECT_EQ(exported(second.name()).size(), 4U);

  spec.set_prior("none");
  EXPECT_EQ(watch(created(spec).name()).back().campaign().runs_done(), first.runs_done());
  spec.set_prior("campaigns/c99");
  EXPECT_EQ(reason_of(create(spec, second)), "CAMPAIGN_NOT_FOUND");
  spec.set_prior("");
  spec.set_model("models/tcp");
  EXPECT_EQ(reason_of(create(spec, second)), "INVALID_FIELD");
}

}  // namespace
}  // namespace stripline::server
