// Problems as gRPC statuses with machine-readable details.
#pragma once

#include "server/problem.h"

namespace grpc {
class Status;
}

namespace stripline::server {

/// The status of a call that failed: canonical code, message, and in its details (the trailer
/// "grpc-status-details-bin") a stripline.v1.Status whose first detail is an ErrorInfo.
grpc::Status rpc_status(const Problem& problem);

}  // namespace stripline::server
