// Models by gRPC.
#include <functional>

#include <gtest/gtest.h>

#include "optimizer/model/feedback.h"
#include "server/testing/service_test.h"

namespace stripline::server {
namespace {

class ModelsServiceTest : public ServiceTest {
 protected:
  // True if such calls are refused before there are as many as cheap ones may be at once.
  static bool is_limited(const std::function<grpc::Status(grpc::ClientContext*)>& call) {
    for (int i = 0; i < 900; ++i) {
      grpc::ClientContext context;
      if (reason_of(call(&context)) == "TOO_MANY_CALLS") return true;
    }
    return false;
  }
};

TEST_F(ModelsServiceTest, ListsOfReportsAreCounted) {
  EXPECT_TRUE(is_limited([&](grpc::ClientContext* context) {
    v1::ListFeedbackResponse response;
    return models_->ListFeedback(context, {}, &response);
  }));
}

// Each is written to the disk, and displaces an older one.
TEST_F(ModelsServiceTest, ReportsOfANodeBeyondOneASecondAreDropped) {
  start_agents();
  const v1::Campaign end = watch(created(model_spec()).name()).back().campaign();
  ASSERT_EQ(end.state(), v1::Campaign::SUCCEEDED) << end.message();
  v1::GetModelVersionRequest request;
  request.set_name(end.model_version());
  grpc::ClientContext context;
  v1::ModelVersion version;
  ASSERT_TRUE(models_->GetModelVersion(&context, request, &version).ok());

  AgentClient node(address_, test_hello("c"));
  ASSERT_TRUE(node.receive(v1::ServerMessage::kHelloAck));
  constexpr int kReports = 60;
  const auto start = std::chrono::steady_clock::now();
  model::Feedback report;
  report.model_sha256 = version.sha256();
  report.places = {{"t.cc:17", "get", "packed", 2, 9, 8, 1e-3, 2e-3, 1, 3e-3, 1}};
  for (int i = 0; i < kReports; ++i) {
    report.run = std::to_string(i);
    v1::AgentMessage message;
    message.mutable_feedback_report()->set_content(model::report_text(report));
    ASSERT_TRUE(node.send(message));
  }
  // It is read when all of them have been.
  node.heartbeat("campaigns/c99/runs/1", 1);
  ASSERT_TRUE(node.receive(v1::ServerMessage::kCancelAssignment));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  v1::ListFeedbackRequest list;
  list.set_parent(end.model_version());
  v1::ListFeedbackResponse stored;
  grpc::ClientContext listing;
  ASSERT_TRUE(models_->ListFeedback(&listing, list, &stored).ok());
  EXPECT_GT(stored.feedback_size(), 0);
  if (took.count() < 30) {
    EXPECT_LT(stored.feedback_size(), kReports - 20);
  }
}

TEST_F(ModelsServiceTest, ReportsAreCounted) {
  EXPECT_TRUE(is_limited([&](grpc::ClientContext* context) {
    v1::SendFeedbackResponse response;
    return models_->SendFeedback(context, {}, &response);
  }));
}

}  // namespace
}  // namespace stripline::server
