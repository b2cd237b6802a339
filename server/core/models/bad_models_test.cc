// Models that are wrong, on purpose, against a server and agents that measure: none of them gets
// through, by the validation of its campaign, by another campaign, or past the gate.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/model/model_json.h"
#include "server/store/sqlite_store.h"
#include "server/testing/service_test.h"
#include "stripline/v1/operations.grpc.pb.h"

namespace stripline::server {
namespace {

class BadModelsTest : public ServiceTest {
 protected:
  static AutoAgent::Options agents() {
    AutoAgent::Options options;
    options.measures_windows = true;
    // Its protocol changes at 12,000 bytes.
    options.machine.switch_bytes = 12000;
    options.machine.more_L = 3 * options.machine.L;
    options.machine.G = 0.2e-9;
    return options;
  }

  v1::Campaign measure(const std::string& model, uint64_t seed) {
    v1::CampaignSpec spec = model_spec();
    spec.set_model(model);
    spec.set_seed(seed);
    return watch(created(spec).name()).back().campaign();
  }

  v1::ModelVersion import(const model::TunedModel& model) {
    v1::ImportModelVersionRequest request;
    request.set_parent("models/imported");
    request.set_content(model::to_json(model)->dump(2));
    v1::ModelVersion version;
    grpc::ClientContext context;
    const auto status = models_->ImportModelVersion(&context, request, &version);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return version;
  }

  v1::ModelVersion validated(const std::string& version, const std::string& campaign) {
    v1::ValidateModelVersionRequest request;
    request.set_name(version);
    request.add_campaigns(campaign);
    v1::ModelVersion answer;
    grpc::ClientContext context;
    const auto status = models_->ValidateModelVersion(&context, request, &answer);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return answer;
  }

  grpc::Status promote(const std::string& version, const std::string& label,
                       const std::string& unjudged_reason = "") {
    v1::PromoteModelVersionRequest request;
    request.set_name(version);
    request.set_label(label);
    request.set_unjudged_reason(unjudged_reason);
    v1::ModelVersion answer;
    grpc::ClientContext context;
    return models_->PromoteModelVersion(&context, request, &answer);
  }

  grpc::Status fetch(const std::string& name, bool accept_failed = false) {
    v1::FetchModelVersionRequest request;
    request.set_name(name);
    request.set_accept_failed(accept_failed);
    grpc::ClientContext context;
    const auto reader = models_->FetchModelVersion(&context, request);
    v1::ModelChunk chunk;
    while (reader->Read(&chunk)) continue;
    return reader->Finish();
  }

  // The operations of the model's only path.
  static void change(model::TunedModel& model,
                     const std::function<void(model::OperationModel&)>& how) {
    for (auto& [name, path] : model.network) {
      for (auto* const operation : {&path.get, &path.put}) {
        if (*operation) how(**operation);
      }
    }
  }
};

TEST_F(BadModelsTest, PassNeitherValidationNorGateAndAGoodOneDoes) {
  start_agents(agents());
  const v1::Campaign fitted = measure("models/fitted", 1);
  ASSERT_EQ(fitted.state(), v1::Campaign::SUCCEEDED) << fitted.message();
  ASSERT_EQ(measure("models/others", 2).state(), v1::Campaign::SUCCEEDED);
  const auto good = model::parse_model(fetched("models/fitted"), "the fitted model");
  ASSERT_TRUE(good.ok()) << good.error().message();

  const v1::ModelVersion imported = import(*good);
  EXPECT_EQ(imported.state(), v1::ModelVersion::FITTED);
  EXPECT_NE(imported.unjudged(), "");
  EXPECT_EQ(reason_of(promote(imported.name(), "stable")), "GATE") << "nothing has judged it";
  const v1::ModelVersion judged = validated(imported.name(), "campaigns/c2");
  EXPECT_EQ(judged.state(), v1::ModelVersion::VALIDATED) << judged.failed() << judged.unjudged();
  EXPECT_GE(judged.validation().choices(), 4U);
  EXPECT_EQ(judged.validation().times().size(), 4);
  const auto promoted = promote(imported.name(), "stable");
  EXPECT_TRUE(promoted.ok()) << promoted.error_message();

  struct Lie {
    std::string what;
    std::string sentence;  // What it fails by, in part.
    std::function<void(model::OperationModel&)> how;
  };
  const std::vector<Lie> lies = {
      {"a depth of 1", "predicted times of the kind 'burst of get' is",
       [](model::OperationModel& operation) {
         operation.queue_depth->value = operation.queue_depth->ci_low =
             operation.queue_depth->ci_high = 1;
         operation.queue_depth->at_least = false;
       }},
      {"a missing break", "predicted times of the kind 'size of",
       [](model::OperationModel& operation) {
         operation.segments.front().to_bytes = operation.segments.back().to_bytes;
         operation.segments.resize(1);
       }},
      {"ten times the latency", "predicted times is", [](model::OperationModel& operation) {
         for (model::Segment& segment : operation.segments) {
           if (!segment.L_s) continue;
           segment.L_s->value *= 10;
           segment.L_s->ci_low *= 10;
           segment.L_s->ci_high *= 10;
         }
       }}};
  for (const auto& [lie, sentence, how] : lies) {
    model::TunedModel bad = *good;
    change(bad, how);
    const std::string name = import(bad).name();
    const v1::ModelVersion failed = validated(name, "campaigns/c2");
    EXPECT_EQ(failed.state(), v1::ModelVersion::FAILED)
        << lie << ": " << failed.validation().ShortDebugString();
    EXPECT_NE(failed.failed().find(sentence), std::string::npos) << lie << ": " << failed.failed();
    for (const char* label : {"canary", "stable"}) {
      const auto refused = promote(name, label, "I want it");
      EXPECT_EQ(reason_of(refused), "GATE") << lie;
      EXPECT_NE(refused.error_message().find(failed.failed()), std::string::npos)
          << refused.error_message();
    }
  }
  // The best version is one that did well.
  EXPECT_TRUE(fetch("models/imported").ok());
  const auto best = model::parse_model(fetched("models/imported"), "the best one");
  ASSERT_TRUE(best.ok()) << best.error().message();
  EXPECT_EQ(*model::content_sha256(*best), *model::content_sha256(*good));
}

TEST_F(BadModelsTest, AModelThatFailsItsValidationIsAFailedCampaign) {
  AutoAgent::Options options = agents();
  options.machine.off_grid = 4;  // what is measured to fit tells nothing of the rest
  start_agents(options);
  const v1::Campaign campaign = measure("models/tcp", 1);
  EXPECT_EQ(campaign.state(), v1::Campaign::FAILED);
  EXPECT_NE(campaign.message().find("failed its validation: "), std::string::npos)
      << campaign.message();
  ASSERT_EQ(campaign.model_version(), "models/tcp/versions/1");
  const auto plain = fetch("models/tcp");
  EXPECT_EQ(reason_of(plain), "FAILED_VALIDATION");
  EXPECT_NE(plain.error_message().find("predicted times"), std::string::npos)
      << plain.error_message();
  EXPECT_TRUE(fetch("models/tcp", true).ok());
  EXPECT_TRUE(fetch("models/tcp/versions/1").ok());

  // A fit by hand of the same comes to the same end.
  v1::FitModelRequest request;
  request.set_model("models/tcp");
  request.add_campaigns(campaign.name());
  v1::Operation operation;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(models_->FitModel(&context, request, &operation).ok());
  }
  const auto operations = v1::Operations::NewStub(channel_);
  EXPECT_TRUE(eventually([&] {
    v1::GetOperationRequest get;
    get.set_name(operation.name());
    grpc::ClientContext context;
    return operations->GetOperation(&context, get, &operation).ok() &&
           operation.state() != v1::Operation::RUNNING;
  }));
  EXPECT_EQ(operation.state(), v1::Operation::FAILED) << operation.message();
  EXPECT_EQ(operation.result(), "models/tcp/versions/2");
}

TEST_F(BadModelsTest, WhatNothingHasJudgedIsNotStableUnlessAPersonSaysWhy) {
  start_agents();  // who measure no decision
  const v1::Campaign campaign = measure("models/tcp", 1);
  ASSERT_EQ(campaign.state(), v1::Campaign::SUCCEEDED) << campaign.message();
  EXPECT_NE(campaign.message().find("UNVALIDATED"), std::string::npos) << campaign.message();
  EXPECT_NE(campaign.message().find("0 decisions"), std::string::npos) << campaign.message();
  const auto refused = promote("models/tcp/versions/1", "stable");
  EXPECT_EQ(reason_of(refused), "GATE");
  EXPECT_NE(refused.error_message().find("0 decisions"), std::string::npos)
      << refused.error_message();
  EXPECT_TRUE(promote("models/tcp/versions/1", "stable", "a network of our own").ok());
  agents_.clear();
  server_.reset();  // Its database is its own.
  const auto sqlite = open_sqlite_store(folder_.path() / "stripline.db");
  ASSERT_TRUE(sqlite.ok());
  const auto audit = (*sqlite)->audit(0, 1);
  ASSERT_TRUE(audit.ok());
  EXPECT_NE(audit->front().action.find("a network of our own"), std::string::npos)
      << audit->front().action;
}

}  // namespace
}  // namespace stripline::server
