#include "server/doors/rpc_status.h"

#include <grpcpp/support/status.h>

#include "base/cut_text.h"
#include "proto/status_codes.h"
#include "stripline/v1/common.pb.h"

namespace stripline::server {
namespace {

grpc::StatusCode status_code(ErrorCode code) {
  for (const auto& [ours, carried] : kStatusCodes) {
    if (ours == code) return carried;
  }
  return grpc::StatusCode::UNKNOWN;
}

// Codes that base/result.h has no word for. A caller who may be known in a moment cannot be
// sent "retry_after_s" where a call is refused before it reaches its service: the code says it.
grpc::StatusCode status_code(const Problem& problem) {
  if (problem.reason == "UNAUTHENTICATED") {
    return problem.metadata.contains("retry_after_s") ? grpc::StatusCode::ABORTED
                                                      : grpc::StatusCode::UNAUTHENTICATED;
  }
  if (problem.reason == "PERMISSION_DENIED" || problem.reason == "NOT_OWNER") {
    return grpc::StatusCode::PERMISSION_DENIED;
  }
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
