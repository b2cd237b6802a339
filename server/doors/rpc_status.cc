#include "server/doors/rpc_status.h"

#include "base/cut_text.h"
#include "stripline/v1/common.pb.h"

namespace stripline::server {
namespace {

grpc::StatusCode status_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case ErrorCode::not_found:
      return grpc::StatusCode::NOT_FOUND;
    case ErrorCode::already_exists:
      return grpc::StatusCode::ALREADY_EXISTS;
    case ErrorCode::failed_precondition:
      return grpc::StatusCode::FAILED_PRECONDITION;
    case ErrorCode::resource_exhausted:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case ErrorCode::unavailable:
      return grpc::StatusCode::UNAVAILABLE;
    case ErrorCode::deadline_exceeded:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    case ErrorCode::cancelled:
      return grpc::StatusCode::CANCELLED;
    case ErrorCode::aborted:
      return grpc::StatusCode::ABORTED;
    case ErrorCode::data_loss:
      return grpc::StatusCode::DATA_LOSS;
    case ErrorCode::unimplemented:
      return grpc::StatusCode::UNIMPLEMENTED;
    case ErrorCode::internal:
      return grpc::StatusCode::INTERNAL;
  }
  return grpc::StatusCode::UNKNOWN;
}

// Two codes that base/result.h has no word for. A caller who may be known in a moment cannot be
// sent "retry_after_s" where a call is refused before it reaches its service: the code says it.
grpc::StatusCode status_code(const Problem& problem) {
  if (problem.reason == "UNAUTHENTICATED") {
    return problem.metadata.contains("retry_after_s") ? grpc::StatusCode::ABORTED
                                                      : grpc::StatusCode::UNAUTHENTICATED;
  }
  if (problem.reason == "PERMISSION_DENIED") return grpc::StatusCode::PERMISSION_DENIED;
  return status_code(problem.code);
}

}  // namespace

grpc::Status rpc_status(const Problem& problem) {
  v1::ErrorInfo info;
  info.set_reason(problem.reason);
  info.set_domain("stripline.v1");
  for (const auto& [key, value] : problem.metadata) {
    (*info.mutable_metadata())[key] = cut_text(value, kLongestQuoteBytes);
  }
  const std::string message = cut_text(problem.message, kLongestMessageBytes);
  v1::Status details;
  details.set_code(static_cast<int>(status_code(problem)));
  details.set_message(message);
  details.add_details()->PackFrom(info);
  return {status_code(problem), message, details.SerializeAsString()};
}

}  // namespace stripline::server
