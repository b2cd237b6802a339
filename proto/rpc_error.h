// A failed call as its clients see it. The counterpart of what the server attaches to an error
// (common.proto): the canonical code, the reason for programs, the message for people.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace grpc {
class Status;
}

namespace stripline {

struct RpcError {
  Error error{ErrorCode::internal, ""};
  std::string reason;  ///< ErrorInfo.reason, or empty when the failure is not the server's word
  std::map<std::string, std::string> metadata;
};

/// Reads a status that is not OK. Codes that base/result.h lacks map to the nearest: UNKNOWN to
/// internal, OUT_OF_RANGE to invalid_argument, UNAUTHENTICATED and PERMISSION_DENIED to
/// failed_precondition. ABORTED without details, or with the reason UNAUTHENTICATED, is what a
/// server answers whose keys of an issuer may be too old to judge a token by: failed_precondition,
/// UNAUTHENTICATED, with "retry_after_s".
/// Details that cannot be parsed are ignored.
RpcError rpc_error_from(const grpc::Status& status);

/// The same from its parts: a canonical code, the message, and the serialised v1.Status.
RpcError rpc_error_from(int code, const std::string& message, const std::string& details);

}  // namespace stripline
