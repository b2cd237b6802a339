#include "proto/rpc_error.h"

#include <string>

#include <grpcpp/support/status_code_enum.h>
#include <gtest/gtest.h>

#include "stripline/v1/common.pb.h"

namespace stripline {
namespace {

std::string details(const std::string& reason, const std::string& key, const std::string& value) {
  v1::ErrorInfo info;
  info.set_reason(reason);
  (*info.mutable_metadata())[key] = value;
  v1::Status status;
  status.add_details()->PackFrom(info);
  return status.SerializeAsString();
}

// The server says more where a call has reached its service.
TEST(RpcErrorFrom, ATokenThatIsShownTooEarlyIsTheSameWithDetailsAndWithout) {
  for (const std::string& said :
       {std::string(), details("UNAUTHENTICATED", "retry_after_s", "2")}) {
    const RpcError error = rpc_error_from(grpc::StatusCode::ABORTED, "no key yet", said);
    EXPECT_EQ(error.error.code(), ErrorCode::failed_precondition);
    EXPECT_EQ(error.error.message(), "no key yet");
    EXPECT_EQ(error.reason, "UNAUTHENTICATED");
    EXPECT_EQ(error.metadata.at("retry_after_s"), "2");
  }
  const RpcError replaced = rpc_error_from(grpc::StatusCode::ABORTED, "another session",
                                           details("SESSION_REPLACED", "node", "a"));
  EXPECT_EQ(replaced.error.code(), ErrorCode::aborted);
  EXPECT_EQ(replaced.reason, "SESSION_REPLACED");
}

TEST(RpcErrorFrom, ARefusalHasItsReason) {
  const int code = grpc::StatusCode::PERMISSION_DENIED;
  EXPECT_EQ(rpc_error_from(code, "no", "").reason, "PERMISSION_DENIED");
  const RpcError error = rpc_error_from(code, "no", details("NOT_OWNER", "owner", "users/bob"));
  EXPECT_EQ(error.error.code(), ErrorCode::failed_precondition);
  EXPECT_EQ(error.reason, "NOT_OWNER");
  EXPECT_EQ(error.metadata.at("owner"), "users/bob");
}

}  // namespace
}  // namespace stripline
