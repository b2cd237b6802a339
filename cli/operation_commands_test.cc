// The commands of operations against a server that answers from a script.
#include "cli/operation_commands.h"

#include <algorithm>
#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "cli/testing/commands_fixture.h"
#include "stripline/v1/models.grpc.pb.h"
#include "stripline/v1/operations.grpc.pb.h"

namespace stripline::cli {
namespace {

v1::Operation operation_in(v1::Operation::State state, const std::string& message) {
  v1::Operation operation;
  operation.set_name("operations/o3");
  operation.set_kind("fit model");
  operation.set_subject("models/both");
  operation.set_state(state);
  operation.set_message(message);
  operation.set_actor("users/alice");
  operation.set_create_time("2026-01-01T00:00:00Z");
  operation.set_update_time("2026-01-01T00:01:00Z");
  return operation;
}

v1::Operation succeeded() {
  v1::Operation operation =
      operation_in(v1::Operation::SUCCEEDED,
                   "published models/both/versions/1, PROVISIONAL: 12 runs, 345 samples, FULL; "
                   "times drifted by +12 %; put: no break found; without campaigns/c2/runs/2");
  operation.set_result("models/both/versions/1");
  return operation;
}

// Each time it is asked it is one further.
struct FakeOperations final : v1::Operations::Service {
  grpc::Status GetOperation(grpc::ServerContext*, const v1::GetOperationRequest* request,
                            v1::Operation* response) override {
    if (request->name() != "operations/o3") {
      return problem(grpc::StatusCode::NOT_FOUND, "OPERATION_NOT_FOUND", "no such operation");
    }
    *response = asked++ == 0 ? operation_in(v1::Operation::RUNNING, "fits 12 runs") : end;
    return grpc::Status::OK;
  }
  grpc::Status CancelOperation(grpc::ServerContext*, const v1::CancelOperationRequest*,
                               v1::Operation* response) override {
    if (end.state() == v1::Operation::SUCCEEDED) {
      return problem(grpc::StatusCode::FAILED_PRECONDITION, "OPERATION_FINISHED", "it has ended");
    }
    *response = end;
    return grpc::Status::OK;
  }
  std::atomic<int> asked = 0;
  v1::Operation end = succeeded();
};

struct FittedModels final : v1::Models::Service {
  grpc::Status FitModel(grpc::ServerContext*, const v1::FitModelRequest*,
                        v1::Operation* response) override {
    *response = operation_in(v1::Operation::RUNNING, "waits to fit 12 runs");
    return grpc::Status::OK;
  }
  grpc::Status GetModelVersion(grpc::ServerContext*, const v1::GetModelVersionRequest* request,
                               v1::ModelVersion* response) override {
    response->set_name(request->name());
    response->set_summary(
        "12 runs, 345 samples, FULL; times drifted by +12 %; put: no break found; without "
        "campaigns/c2/runs/2");
    response->set_provisional("times drifted by +12 %");
    v1::Finding& drift = *response->add_findings();
    drift.set_kind(v1::Finding::DRIFT);
    drift.set_message("times drifted by +12 %");
    v1::Finding& not_fitted = *response->add_findings();
    not_fitted.set_kind(v1::Finding::NOT_FITTED);
    not_fitted.set_message("put: no break found");
    return grpc::Status::OK;
  }
};

class OperationCommandsTest : public CommandsFixture {
 protected:
  OperationCommandsTest() { serve({&operations_, &models_}); }
  ~OperationCommandsTest() override { stop_serving(); }

  template <typename Action>
  int run(const Action& action) {
    return outcome_of([&] { return cli::run(global_, action); });
  }

  FakeOperations operations_;
  FittedModels models_;
};

constexpr const char* kOutcome =
    "operation   operations/o3\n"
    "task        fit model of models/both\n"
    "state       SUCCEEDED\n"
    "version     models/both/versions/1\n"
    "fitted to   12 runs, 345 samples, FULL; without campaigns/c2/runs/2\n"
    "provisional times drifted by +12 %\n"
    "finding DRIFT: times drifted by +12 %\n"
    "finding NOT_FITTED: put: no break found\n"
    "asked by    users/alice\n"
    "created     2026-01-01 00:00 UTC\n"
    "updated     2026-01-01 00:01 UTC\n";

TEST_F(OperationCommandsTest, WhatAFitFoundIsShownALineEach) {
  operations_.asked = 1;
  EXPECT_EQ(run(OperationShow{"operations/o3"}), kExitOk);
  EXPECT_EQ(out_, kOutcome);
  global_.json = true;
  EXPECT_EQ(run(OperationShow{"operations/o3"}), kExitOk);
  EXPECT_EQ(Json::parse(out_).at("message"), succeeded().message());
  EXPECT_EQ(std::ranges::count(out_, '\n'), 1);
}

TEST_F(OperationCommandsTest, AFitIsFollowedToItsEnd) {
  EXPECT_EQ(run(ModelFit{"models/both", {"campaigns/c1"}, {}, false}), kExitOk);
  EXPECT_EQ(
      out_,
      std::string("operations/o3: waits to fit 12 runs\noperations/o3: fits 12 runs\n") + kOutcome);
  EXPECT_EQ(run(ModelFit{"models/both", {"campaigns/c1"}, {}, true}), kExitOk);
  EXPECT_TRUE(printed("stripline operation show o3")) << out_;
}

TEST_F(OperationCommandsTest, WhatComesToNothingSaysWhy) {
  operations_.asked = 1;
  operations_.end = operation_in(v1::Operation::FAILED, "no model could be fitted:\nno samples");
  EXPECT_EQ(run(OperationShow{"operations/o3"}), kExitFailure);
  EXPECT_TRUE(printed("message     no model could be fitted:\\u000ano samples\n")) << out_;
  operations_.end = operation_in(v1::Operation::CANCELLED, "cancelled by users/bob");
  EXPECT_EQ(run(OperationShow{"operations/o3", true}), kExitCancelled);
  EXPECT_TRUE(printed("state       CANCELLED\nmessage     cancelled by users/bob\n")) << out_;
  EXPECT_EQ(run(OperationShow{"operations/o4"}), kExitUsage);
}

TEST_F(OperationCommandsTest, OneThatHasNotEndedIsCancelled) {
  EXPECT_EQ(run(OperationCancel{"operations/o3"}), kExitConflict);
  EXPECT_TRUE(complained("it has ended")) << err_;
  operations_.end = operation_in(v1::Operation::CANCELLED, "cancelled by users/alice");
  EXPECT_EQ(run(OperationCancel{"operations/o3"}), kExitOk);
  EXPECT_EQ(out_, "operations/o3 is cancelled\n");
}

}  // namespace
}  // namespace stripline::cli
