// Models by gRPC.
#include <functional>

#include <gtest/gtest.h>

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

TEST_F(ModelsServiceTest, ReportsAreCounted) {
  EXPECT_TRUE(is_limited([&](grpc::ClientContext* context) {
    v1::SendFeedbackResponse response;
    return models_->SendFeedback(context, {}, &response);
  }));
}

}  // namespace
}  // namespace stripline::server
