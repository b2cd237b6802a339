#include "proto/rpc_error.h"

#include <grpcpp/support/status.h>

#include "proto/status_codes.h"
#include "stripline/v1/common.pb.h"

namespace stripline {
namespace {

// Between two looks of a server at the keys of an issuer there are five seconds.
constexpr const char* kUsualWait_s = "2";

ErrorCode code_from(grpc::StatusCode code) {
  if (code == grpc::StatusCode::OUT_OF_RANGE) return ErrorCode::invalid_argument;
  if (code == grpc::StatusCode::PERMISSION_DENIED || code == grpc::StatusCode::UNAUTHENTICATED) {
    return ErrorCode::failed_precondition;
  }
  for (const auto& [ours, carried] : kStatusCodes) {
    if (carried == code) return ours;
  }
  return ErrorCode::internal;
}

}  // namespace

RpcError rpc_error_from(const grpc::Status& status) {
  return rpc_error_from(status.error_code(), status.error_message(), status.error_details());
}

RpcError rpc_error_from(int code, const std::string& message, const std::string& details) {
  RpcError result{Error(code_from(static_cast<grpc::StatusCode>(code)), message), "", {}};
  // The server refuses before a call reaches its service, and can then say no more than the code.
  if (code == grpc::StatusCode::UNAUTHENTICATED) result.reason = "UNAUTHENTICATED";
  if (code == grpc::StatusCode::PERMISSION_DENIED) result.reason = "PERMISSION_DENIED";
  v1::Status status;
  v1::ErrorInfo info;
  if (status.ParseFromString(details) && status.details_size() > 0 &&
      info.ParseFromString(status.details(0).value())) {
    result.reason = info.reason();
    result.metadata = {info.metadata().begin(), info.metadata().end()};
  } else if (code == grpc::StatusCode::ABORTED) {
    // The server does not know yet by which key the issuer of a token has signed it.
    result.reason = "UNAUTHENTICATED";
    result.metadata = {{"retry_after_s", kUsualWait_s}};
  }
  // Whichever code says it.
  if (result.reason == "UNAUTHENTICATED") {
    result.error = Error(ErrorCode::failed_precondition, message);
  }
  return result;
}

}  // namespace stripline
