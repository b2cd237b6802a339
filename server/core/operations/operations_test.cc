// Fits that somebody asks for: stored, carried out, and taken up by the next server.
#include <atomic>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/json.h"
#include "server/testing/saboteur.h"
#include "server/testing/service_test.h"
#include "stripline/v1/operations.grpc.pb.h"

namespace stripline::server {
namespace {

class OperationsTest : public ServiceTest {
 protected:
  void SetUp() override {
    options_.fitter = [this](const FitJob& job, const std::stop_token& stop) {
      while (hold_ && !stop.stop_requested()) {
        ++held_;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      if (stop.stop_requested()) return Result<FittedModel>(Error(ErrorCode::cancelled, "stopped"));
      return fit_in_process(job, stop);
    };
    ServiceTest::SetUp();
    start_agents();
  }

  void start_again() {
    server_.reset();
    start();
    operations_ = v1::Operations::NewStub(channel_);
  }

  std::string measured(uint32_t runs) {
    v1::CampaignSpec spec = model_spec();
    spec.set_runs(runs);
    const std::string name = created(spec).name();
    const v1::Campaign end = watch(name).back().campaign();
    EXPECT_EQ(end.state(), v1::Campaign::SUCCEEDED) << end.message();
    return name;
  }

  grpc::Status fit(const v1::FitModelRequest& request, v1::Operation& operation) {
    grpc::ClientContext context;
    return models_->FitModel(&context, request, &operation);
  }

  v1::Operation get(const std::string& name) {
    operations_ = v1::Operations::NewStub(channel_);
    v1::GetOperationRequest request;
    request.set_name(name);
    v1::Operation operation;
    grpc::ClientContext context;
    const grpc::Status status = operations_->GetOperation(&context, request, &operation);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return operation;
  }

  v1::Operation ended(const std::string& name) {
    EXPECT_TRUE(eventually([&] { return get(name).state() != v1::Operation::RUNNING; }));
    return get(name);
  }

  using ServiceTest::get;

  std::atomic<bool> hold_ = false;
  std::atomic<int> held_ = 0;
  std::unique_ptr<v1::Operations::Stub> operations_;
};

TEST_F(OperationsTest, CampaignsAreFittedTogether) {
  const std::string first = measured(6);
  const std::string second = measured(7);
  v1::FitModelRequest request;
  request.set_model("models/both");
  request.add_campaigns(first);
  request.add_campaigns(second);
  request.add_without(second + "/runs/2");
  request.set_request_id("r1");
  v1::Operation operation;
  ASSERT_TRUE(fit(request, operation).ok());
  EXPECT_EQ(operation.name(), "operations/o1");
  EXPECT_EQ(operation.subject(), "models/both");
  const v1::Operation end = ended(operation.name());
  ASSERT_EQ(end.state(), v1::Operation::SUCCEEDED) << end.message();
  EXPECT_EQ(end.result(), "models/both/versions/1");
  EXPECT_NE(end.message().find("12 runs"), std::string::npos) << end.message();
  EXPECT_NE(end.message().find("without campaigns/c2/runs/2"), std::string::npos);
  const Json model = Json::parse(fetched(end.result()));
  EXPECT_EQ(model["provenance"]["campaigns"], Json({first, second}));
  // The same request is the same operation; another one under its id is refused.
  v1::Operation again;
  ASSERT_TRUE(fit(request, again).ok());
  EXPECT_EQ(again.name(), operation.name());
  EXPECT_EQ(again.result(), end.result());
  request.clear_without();
  EXPECT_EQ(reason_of(fit(request, again)), "REQUEST_ID_REUSED");
  // Neither campaign can be deleted now.
  for (const std::string& name : {first, second}) {
    v1::DeleteCampaignRequest gone;
    gone.set_name(name);
    v1::DeleteCampaignResponse response;
    grpc::ClientContext context;
    EXPECT_EQ(reason_of(campaigns_->DeleteCampaign(&context, gone, &response)), "CAMPAIGN_IN_USE");
  }
}

TEST_F(OperationsTest, AServerThatStartsAgainGoesOn) {
  const std::string campaign = measured(6);
  v1::FitModelRequest request;
  request.set_model("models/again");
  request.add_campaigns(campaign);
  hold_ = true;
  v1::Operation operation;
  ASSERT_TRUE(fit(request, operation).ok());
  ASSERT_TRUE(eventually([&] { return held_ > 0; }));
  EXPECT_EQ(get(operation.name()).state(), v1::Operation::RUNNING);
  start_again();
  EXPECT_EQ(get(operation.name()).state(), v1::Operation::RUNNING);
  hold_ = false;
  const v1::Operation end = ended(operation.name());
  EXPECT_EQ(end.state(), v1::Operation::SUCCEEDED) << end.message();
  start_again();
  EXPECT_EQ(get(operation.name()).result(), "models/again/versions/1");
  v1::ListOperationsResponse list;
  grpc::ClientContext context;
  ASSERT_TRUE(operations_->ListOperations(&context, {}, &list).ok());
  EXPECT_EQ(list.operations_size(), 1);
}

TEST_F(OperationsTest, WhatIsCancelledComesToNothing) {
  v1::FitModelRequest request;
  request.add_campaigns(measured(6));
  const auto asked_for = [&](const std::string& model) {
    request.set_model(model);
    v1::Operation operation;
    EXPECT_TRUE(fit(request, operation).ok());
    return operation.name();
  };
  const auto state_after_cancelling = [&](const std::string& name) {
    v1::CancelOperationRequest cancel;
    cancel.set_name(name);
    v1::Operation operation;
    grpc::ClientContext context;
    const grpc::Status status = operations_->CancelOperation(&context, cancel, &operation);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(operation.message(), "cancelled by users/anonymous");
    return operation.state();
  };
  hold_ = true;
  const std::string active = asked_for("models/active");
  const std::string waiting = asked_for("models/waiting");
  const std::string later = asked_for("models/later");
  ASSERT_TRUE(eventually([&] { return held_ > 0; }));
  EXPECT_EQ(get(active).message(), "fits 6 runs");
  EXPECT_EQ(state_after_cancelling(waiting), v1::Operation::CANCELLED);
  EXPECT_EQ(state_after_cancelling(active), v1::Operation::CANCELLED);
  EXPECT_EQ(state_after_cancelling(active), v1::Operation::CANCELLED) << "again, as it was";
  // The fit has been asked to stop, and the next one begins while both would be held.
  ASSERT_TRUE(eventually([&] { return get(later).message() == "fits 6 runs"; }));
  hold_ = false;
  EXPECT_EQ(ended(later).result(), "models/later/versions/1");
  for (const std::string& name : {active, waiting}) {
    EXPECT_EQ(get(name).state(), v1::Operation::CANCELLED);
    EXPECT_EQ(get(name).result(), "");
  }
  v1::ListModelsResponse models;
  grpc::ClientContext context;
  ASSERT_TRUE(models_->ListModels(&context, {}, &models).ok());
  EXPECT_EQ(models.models_size(), 2) << "that of the campaign, and the last one";
  start_again();
  EXPECT_EQ(get(active).state(), v1::Operation::CANCELLED);
  EXPECT_EQ(get(waiting).message(), "cancelled by users/anonymous");
  v1::CancelOperationRequest cancel;
  cancel.set_name(later);
  v1::Operation operation;
  grpc::ClientContext too_late;
  EXPECT_EQ(reason_of(operations_->CancelOperation(&too_late, cancel, &operation)),
            "OPERATION_FINISHED");
  cancel.set_name("operations/o9");
  grpc::ClientContext nowhere;
  EXPECT_EQ(reason_of(operations_->CancelOperation(&nowhere, cancel, &operation)),
            "OPERATION_NOT_FOUND");
}

TEST_F(OperationsTest, OneThatCannotBeReadKeepsNoOtherBack) {
  v1::FitModelRequest request;
  request.add_campaigns(measured(6));
  hold_ = true;
  v1::Operation operation;
  for (const char* model : {"models/first", "models/damaged", "models/last"}) {
    request.set_model(model);
    ASSERT_TRUE(fit(request, operation).ok());
  }
  ASSERT_TRUE(eventually([&] { return held_ > 0; }));
  Saboteur(folder_.path()).run("UPDATE operations SET request = '{' WHERE number = 2");
  hold_ = false;
  EXPECT_EQ(ended("operations/o3").result(), "models/last/versions/1");
  EXPECT_EQ(get("operations/o2").state(), v1::Operation::FAILED);
  EXPECT_NE(get("operations/o2").message().find("stored order"), std::string::npos)
      << get("operations/o2").message();
}

TEST_F(OperationsTest, RefusesAndFailsWithReasons) {
  v1::FitModelRequest request;
  request.set_model("models/m");
  request.add_campaigns("campaigns/c1");
  v1::Operation operation;
  EXPECT_EQ(reason_of(fit(request, operation)), "CAMPAIGN_NOT_FOUND");
  const v1::Campaign samples = created(small_spec(6));
  watch(samples.name());
  // Its experiment feeds no model, so that the fit has nothing to go by.
  ASSERT_TRUE(fit(request, operation).ok());
  const v1::Operation end = ended(operation.name());
  EXPECT_EQ(end.state(), v1::Operation::FAILED);
  EXPECT_NE(end.message().find("no model could be fitted"), std::string::npos) << end.message();
  request.add_without("campaigns/c1/runs/9");
  EXPECT_EQ(reason_of(fit(request, operation)), "INVALID_FIELD");
  request.clear_without();
  request.set_model("nonsense");
  EXPECT_EQ(reason_of(fit(request, operation)), "INVALID_FIELD");
  v1::GetOperationRequest get;
  get.set_name("operations/o9");
  grpc::ClientContext context;
  EXPECT_EQ(reason_of(operations_->GetOperation(&context, get, &operation)), "OPERATION_NOT_FOUND");
}

}  // namespace
}  // namespace stripline::server
