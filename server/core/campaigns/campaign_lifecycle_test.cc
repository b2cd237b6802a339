// What operators do to campaigns, over gRPC, with agents that take their time.
#include <atomic>
#include <string>
#include <thread>

#include "server/testing/saboteur.h"
#include "server/testing/service_test.h"

namespace stripline::server {
namespace {

// Enough runs that what is done to a campaign meets it before its end.
constexpr uint32_t kRuns = 8;

class CampaignLifecycleTest : public ServiceTest {
 protected:
  // A run of small_spec() has eight points.
  void start_agents(double point_s = 0) {
    AutoAgent::Options options;
    options.batch_delay_s = point_s;
    options.series_per_batch = 1;
    ServiceTest::start_agents(options);
  }

  template <typename Request>
  grpc::Status ask(grpc::Status (v1::Campaigns::Stub::*method)(grpc::ClientContext*, const Request&,
                                                               v1::Campaign*),
                   const std::string& name, v1::Campaign& campaign, Request request = {}) {
    request.set_name(name);
    grpc::ClientContext context;
    return (campaigns_.get()->*method)(&context, request, &campaign);
  }
  grpc::Status pause(const std::string& name, v1::Campaign& campaign) {
    return ask(&v1::Campaigns::Stub::PauseCampaign, name, campaign);
  }
  grpc::Status resume(const std::string& name, v1::Campaign& campaign) {
    return ask(&v1::Campaigns::Stub::ResumeCampaign, name, campaign);
  }
  grpc::Status drain(const std::string& name, v1::Campaign& campaign) {
    v1::CancelCampaignRequest request;
    request.set_drain(true);
    return ask(&v1::Campaigns::Stub::CancelCampaign, name, campaign, request);
  }
  grpc::Status retry(const std::string& name, v1::Campaign& campaign, double time_budget_s = 0) {
    v1::RetryCampaignRequest request;
    request.set_time_budget_s(time_budget_s);
    return ask(&v1::Campaigns::Stub::RetryCampaign, name, campaign, request);
  }
  grpc::Status forget(const std::string& name) {
    v1::DeleteCampaignRequest request;
    request.set_name(name);
    v1::DeleteCampaignResponse response;
    grpc::ClientContext context;
    return campaigns_->DeleteCampaign(&context, request, &response);
  }
  v1::CampaignEstimate estimated(const v1::CampaignSpec& spec) {
    v1::EstimateCampaignRequest request;
    *request.mutable_spec() = spec;
    v1::CampaignEstimate estimate;
    grpc::ClientContext context;
    const grpc::Status status = campaigns_->EstimateCampaign(&context, request, &estimate);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return estimate;
  }
  bool in_state(const std::string& name, v1::Campaign::State state) {
    return eventually([&] { return get(name).state() == state; });
  }
};

TEST_F(CampaignLifecycleTest, APausedCampaignWaitsAlsoAcrossARestart) {
  start_agents(0.02);
  const std::string name = created(small_spec(kRuns)).name();
  ASSERT_TRUE(in_state(name, v1::Campaign::RUNNING));
  v1::Campaign campaign;
  ASSERT_TRUE(pause(name, campaign).ok());
  EXPECT_EQ(campaign.state(), v1::Campaign::PAUSED);
  EXPECT_TRUE(pause(name, campaign).ok());
  // The run that is in progress ends, and no other starts.
  ASSERT_TRUE(eventually([&] {
    return get(name).runs_done() > 0 && node_state("nodes/a") == v1::Node::IDLE &&
           node_state("nodes/b") == v1::Node::IDLE;
  }));
  const uint32_t done = get(name).runs_done();
  EXPECT_GE(done, 1U);
  EXPECT_LT(done, kRuns);
  EXPECT_EQ(get(name).state(), v1::Campaign::PAUSED);
  server_.reset();
  start();
  EXPECT_EQ(get(name).state(), v1::Campaign::PAUSED);
  for (const auto& agent : agents_) agent->set_address(address_);
  ASSERT_TRUE(connected({"a", "b"}));
  EXPECT_EQ(get(name).runs_done(), done);
  ASSERT_TRUE(resume(name, campaign).ok());
  EXPECT_EQ(campaign.state(), v1::Campaign::RUNNING);
  EXPECT_TRUE(resume(name, campaign).ok());
  const v1::Campaign end = watch(name).back().campaign();
  EXPECT_EQ(end.state(), v1::Campaign::SUCCEEDED) << end.message();
  EXPECT_EQ(end.runs_done(), kRuns);
  EXPECT_EQ(reason_of(pause(name, campaign)), "CAMPAIGN_FINISHED");
  EXPECT_EQ(reason_of(resume(name, campaign)), "CAMPAIGN_FINISHED");
}

TEST_F(CampaignLifecycleTest, ACampaignThatWaitsIsPausedAndCancelledAtOnce) {
  start_agents(0.1);
  created(small_spec(kRuns));
  const std::string waiting = created(small_spec(3)).name();
  v1::Campaign campaign;
  ASSERT_TRUE(pause(waiting, campaign).ok());
  EXPECT_EQ(campaign.state(), v1::Campaign::PAUSED);
  ASSERT_TRUE(resume(waiting, campaign).ok());
  EXPECT_EQ(campaign.state(), v1::Campaign::QUEUED);
  ASSERT_TRUE(drain(waiting, campaign).ok());
  EXPECT_EQ(campaign.state(), v1::Campaign::CANCELLED);
}

TEST_F(CampaignLifecycleTest, ADrainedCampaignKeepsItsRunAndMayGoOn) {
  start_agents(0.02);
  const std::string name = created(small_spec(kRuns)).name();
  ASSERT_TRUE(in_state(name, v1::Campaign::RUNNING));
  v1::Campaign campaign;
  EXPECT_EQ(reason_of(retry(name, campaign)), "CAMPAIGN_RUNNING");
  ASSERT_TRUE(drain(name, campaign).ok());
  EXPECT_EQ(campaign.state(), v1::Campaign::DRAINING);
  EXPECT_TRUE(drain(name, campaign).ok());
  EXPECT_EQ(reason_of(pause(name, campaign)), "CAMPAIGN_DRAINING");
  const v1::Campaign cancelled = watch(name).back().campaign();
  EXPECT_EQ(cancelled.state(), v1::Campaign::CANCELLED);
  EXPECT_GE(cancelled.runs_done(), 1U);
  EXPECT_LT(cancelled.runs_done(), kRuns);
  EXPECT_EQ(cancelled.stop_reason(), "CANCELLED");

  ASSERT_TRUE(retry(name, campaign).ok());
  EXPECT_EQ(campaign.retries(), 1U);
  EXPECT_EQ(campaign.stop_reason(), "");
  // From the beginning on: the earlier end is not the last event any more.
  const auto events = watch(name);
  EXPECT_EQ(events.back().campaign().state(), v1::Campaign::SUCCEEDED);
  EXPECT_EQ(events.back().campaign().runs_done(), kRuns);
  EXPECT_EQ(events.front().campaign().state(), v1::Campaign::QUEUED);
  EXPECT_EQ(reason_of(retry(name, campaign)), "CAMPAIGN_FINISHED");
}

TEST_F(CampaignLifecycleTest, SamplesOfAnAttemptThatWasCancelledAreNoPartOfTheNext) {
  start_agents(0.1);
  const std::string name = created(small_spec()).name();
  ASSERT_TRUE(eventually([&] { return get(name).samples() > 0; }));
  v1::Campaign campaign;
  ASSERT_TRUE(cancel(name, campaign).ok());
  ASSERT_TRUE(retry(name, campaign).ok());
  EXPECT_EQ(watch(name).back().campaign().state(), v1::Campaign::SUCCEEDED);
  size_t of_the_model = 0;
  for (const Json& series : exported(name)) {
    EXPECT_EQ(series.at("orphan").get<bool>(), series.at("fence") == 1) << series;
    if (!series.at("orphan").get<bool>()) ++of_the_model;
  }
  EXPECT_EQ(of_the_model, 8U);
}

TEST_F(CampaignLifecycleTest, AFitThatFailedIsMadeAgain) {
  server_.reset();
  std::atomic<bool> broken = true;
  options_.fitter = [&](const FitJob& job, const std::stop_token& stop) -> Result<FittedModel> {
    if (broken) return Error(ErrorCode::failed_precondition, "not today");
    return fit_in_process(job, stop);
  };
  start();
  start_agents();
  const std::string name = created(model_spec(6)).name();
  ASSERT_EQ(watch(name).back().campaign().state(), v1::Campaign::FAILED);
  agents_.clear();  // nothing is left to measure
  broken = false;
  v1::Campaign campaign;
  ASSERT_TRUE(retry(name, campaign).ok());
  const v1::Campaign end = watch(name).back().campaign();
  EXPECT_EQ(end.state(), v1::Campaign::SUCCEEDED) << end.message();
  EXPECT_EQ(end.model_version(), "models/tcp/versions/1");
}

// A fit that is not wanted any more is cancelled, and holds up no other one.
TEST_F(CampaignLifecycleTest, AFitEndsWithItsCampaign) {
  server_.reset();
  std::atomic<int> fits = 0;
  std::atomic<int> let_go = 0;
  options_.fitter = [&](const FitJob& job, const std::stop_token& stop) -> Result<FittedModel> {
    const int number = ++fits;
    while (let_go < number && !stop.stop_requested()) std::this_thread::yield();
    return fit_in_process(job, stop);
  };
  start();
  start_agents();
  const v1::CampaignSpec spec = model_spec(6);
  const std::string deleted = created(spec).name();
  const std::string retried = created(spec).name();
  const std::string waits = created(spec).name();
  v1::Campaign campaign;
  ASSERT_TRUE(eventually([&] { return fits == 1; }));
  ASSERT_TRUE(cancel(deleted, campaign).ok());
  ASSERT_TRUE(forget(deleted).ok());
  // One that waits for its turn.
  ASSERT_TRUE(in_state(waits, v1::Campaign::FITTING));
  ASSERT_TRUE(cancel(waits, campaign).ok());
  ASSERT_TRUE(forget(waits).ok());
  let_go = 1;
  ASSERT_TRUE(eventually([&] { return fits == 2; }));
  ASSERT_EQ(get(retried).state(), v1::Campaign::FITTING);
  // Wanted again, with whatever is measured until then.
  ASSERT_TRUE(cancel(retried, campaign).ok());
  ASSERT_TRUE(retry(retried, campaign).ok());
  ASSERT_TRUE(in_state(retried, v1::Campaign::FITTING));
  let_go = 2;
  ASSERT_TRUE(eventually([&] { return fits == 3; }));
  EXPECT_EQ(get(retried).state(), v1::Campaign::FITTING);
  let_go = 3;
  const v1::Campaign end = watch(retried).back().campaign();
  EXPECT_EQ(end.state(), v1::Campaign::SUCCEEDED) << end.message();
  EXPECT_EQ(end.model_version(), "models/tcp/versions/1");
  EXPECT_EQ(fits, 3);
}

TEST_F(CampaignLifecycleTest, AnotherTryTakesALargerBudget) {
  start_agents(0.03);
  v1::CampaignSpec spec = small_spec(4);
  spec.set_time_budget_s(0.35);
  const std::string name = created(spec).name();
  ASSERT_EQ(watch(name).back().campaign().state(), v1::Campaign::FAILED);
  v1::Campaign campaign;
  EXPECT_EQ(reason_of(retry(name, campaign)), "BUDGET_USED_UP");
  EXPECT_EQ(reason_of(retry(name, campaign, 1e9)), "INVALID_FIELD");
  EXPECT_EQ(reason_of(retry(name, campaign, -1)), "INVALID_FIELD");
  EXPECT_EQ(get(name).state(), v1::Campaign::FAILED);
  ASSERT_TRUE(retry(name, campaign, 600).ok());
  EXPECT_DOUBLE_EQ(campaign.spec().time_budget_s(), 600);
  EXPECT_EQ(watch(name).back().campaign().state(), v1::Campaign::SUCCEEDED);
  EXPECT_DOUBLE_EQ(get(name).spec().time_budget_s(), 600);
}

TEST_F(CampaignLifecycleTest, WhatNoModelNeedsCanBeDeleted) {
  start_agents();
  const std::string name = created(small_spec(100)).name();
  v1::Campaign campaign;
  ASSERT_TRUE(pause(name, campaign).ok());
  EXPECT_EQ(reason_of(forget(name)), "CAMPAIGN_RUNNING");
  ASSERT_TRUE(cancel(name, campaign).ok());
  ASSERT_TRUE(forget(name).ok());
  EXPECT_EQ(reason_of(forget(name)), "CAMPAIGN_NOT_FOUND");
  EXPECT_EQ(reason_of(retry(name, campaign)), "CAMPAIGN_NOT_FOUND");
  const std::string fitted = created(model_spec(6)).name();
  EXPECT_EQ(fitted, "campaigns/c2");  // a number is given out once
  ASSERT_EQ(watch(fitted).back().campaign().state(), v1::Campaign::SUCCEEDED);
  const grpc::Status status = forget(fitted);
  EXPECT_EQ(reason_of(status), "CAMPAIGN_IN_USE");
  EXPECT_NE(status.error_message().find("models/tcp/versions/1"), std::string::npos)
      << status.error_message();
}

TEST_F(CampaignLifecycleTest, ComparedWithItselfNothingDiffers) {
  start_agents();
  const std::string first = created(small_spec(4)).name();
  watch(first);
  const auto compare = [&](const std::string& other, v1::CompareCampaignsResponse& response) {
    v1::CompareCampaignsRequest request;
    request.set_baseline(first);
    request.set_candidate(other);
    grpc::ClientContext context;
    return campaigns_->CompareCampaigns(&context, request, &response);
  };
  v1::CompareCampaignsResponse response;
  ASSERT_TRUE(compare(first, response).ok());
  ASSERT_EQ(response.points_size(), 8);
  for (const auto& point : response.points()) {
    EXPECT_TRUE(point.verdict() == v1::ComparedPoint::EQUIVALENT ||
                point.verdict() == v1::ComparedPoint::INCONCLUSIVE);
    EXPECT_EQ(point.baseline_runs(), 4U);
    EXPECT_DOUBLE_EQ(point.ratio(), 1);
    EXPECT_EQ(point.params().size(), 1U);
  }
  EXPECT_EQ(response.differences_size(), 0);
  v1::CampaignSpec wider = small_spec(2);
  wider.set_ranks(4);
  const std::string second = created(wider).name();
  watch(second);
  response.Clear();
  ASSERT_TRUE(compare(second, response).ok());
  ASSERT_EQ(response.differences_size(), 1);
  EXPECT_EQ(response.differences(0).field(), "ranks");
  for (const auto& point : response.points()) {
    EXPECT_EQ(point.verdict(), v1::ComparedPoint::INCOMPARABLE);
    EXPECT_EQ(point.why(), "ranks 2 and 4");
  }
  EXPECT_EQ(reason_of(compare("campaigns/c9", response)), "CAMPAIGN_NOT_FOUND");
}

// Medians are stored with the points; of campaigns from before that the samples are read.
TEST_F(CampaignLifecycleTest, AreComparedByStoredMediansOrElseBySamples) {
  start_agents();
  const std::string first = created(small_spec(3)).name();
  watch(first);
  const std::string second = created(small_spec(4)).name();
  watch(second);
  const auto compared = [&] {
    v1::CompareCampaignsRequest request;
    request.set_baseline(first);
    request.set_candidate(second);
    grpc::ClientContext context;
    v1::CompareCampaignsResponse response;
    EXPECT_TRUE(campaigns_->CompareCampaigns(&context, request, &response).ok());
    return response;
  };
  const auto by_medians = compared();
  ASSERT_EQ(by_medians.points_size(), 8);
  EXPECT_EQ(by_medians.points(0).baseline_runs(), 3U);
  EXPECT_EQ(by_medians.points(0).candidate_runs(), 4U);
  EXPECT_TRUE(by_medians.points(0).has_ratio());
  Saboteur(folder_.path()).run("UPDATE points SET medians = NULL");
  EXPECT_EQ(compared().DebugString(), by_medians.DebugString());
}

TEST_F(CampaignLifecycleTest, NoSampleIsReadToCompare) {
  start_agents();
  const std::string name = created(small_spec(2)).name();
  watch(name);
  Saboteur(folder_.path()).run("UPDATE payloads SET data = x'00'");
  v1::CompareCampaignsRequest request;
  request.set_baseline(name);
  request.set_candidate(name);
  grpc::ClientContext context;
  v1::CompareCampaignsResponse response;
  ASSERT_TRUE(campaigns_->CompareCampaigns(&context, request, &response).ok());
  EXPECT_EQ(response.points_size(), 8);
}

TEST_F(CampaignLifecycleTest, AnEstimateStartsNothingAndLearnsFromWhatWasMeasured) {
  start_agents(0.01);
  const v1::CampaignEstimate guess = estimated(small_spec(2));
  EXPECT_EQ(guess.points(), 8U);
  EXPECT_EQ(guess.runs(), 2U);
  EXPECT_EQ(guess.points_total(), 16U);
  EXPECT_EQ(guess.spec().nodes(), 2U);
  EXPECT_DOUBLE_EQ(guess.node_s(), 2 * guess.seconds());
  EXPECT_EQ(guess.based_on(), "");
  ASSERT_EQ(guess.risks_size(), 2);
  EXPECT_EQ(guess.risks(0).kind(), "UNKNOWN_PACE");
  EXPECT_EQ(guess.risks(1).kind(), "NO_SPARE_NODE");

  const std::string name = created(small_spec(2)).name();
  EXPECT_EQ(name, "campaigns/c1");
  const v1::Campaign end = watch(name).back().campaign();
  const v1::CampaignEstimate learnt = estimated(small_spec(2));
  EXPECT_EQ(learnt.based_on(), name);
  EXPECT_NEAR(learnt.node_s(), end.node_s(), 0.01 * end.node_s());
  EXPECT_NEAR(learnt.width(), end.width(), 1e-6);
  v1::CampaignSpec other = small_spec(2);
  other.set_ranks(4);
  EXPECT_EQ(estimated(other).based_on(), "");
}

}  // namespace
}  // namespace stripline::server
