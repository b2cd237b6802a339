#include "proto/rpc_error.h"

#include <grpcpp/support/status.h>

#include "stripline/v1/common.pb.h"

namespace stripline {
namespace {

// Between two looks of a server at the keys of an issuer there are five seconds.
constexpr const char* kUsualWait_s = "2";

ErrorCode code_from(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::OUT_OF_RANGE:
      return ErrorCode::invalid_argument;
    case grpc::StatusCode::NOT_FOUND:
      return ErrorCode::not_found;
    case grpc::StatusCode::ALREADY_EXISTS:
      return ErrorCode::already_exists;
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
      return ErrorCode::failed_precondition;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return ErrorCode::resource_exhausted;
    case grpc::StatusCode::UNAVAILABLE:
      return ErrorCode::unavailable;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return ErrorCode::deadline_exceeded;
    case grpc::StatusCode::CANCELLED:
      return ErrorCode::cancelled;
    case grpc::StatusCode::ABORTED:
      return ErrorCode::aborted;
    case grpc::StatusCode::DATA_LOSS:
      return ErrorCode::data_loss;
    case grpc::StatusCode::UNIMPLEMENTED:
      return ErrorCode::unimplemented;
    default:
      return ErrorCode::internal;
  }
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
    result = {Error(ErrorCode::failed_precondition, message),
              "UNAUTHENTICATED",
              {{"retry_after_s", kUsualWait_s}}};
  }
  return result;
}

}  // namespace stripline
