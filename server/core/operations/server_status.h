// The server about itself, as both doors, gRPC and HTTP, and the log tell it: whether it can store
// anything, and what ends soon (server_notices.h). Include from .cc files of the services.
#pragma once

#include "server/core/coordinator.h"
#include "server/core/operations/server_notices.h"
#include "server/problem.h"
#include "server/security/access.h"
#include "server/store/store.h"
#include "stripline/v1/fleet.pb.h"

namespace stripline::server {

/// What is known of what ends, as `caller` may know it, with his token; nullptr: as the log tells
/// it. Errors: the store's.
Result<Ends> ends_of(Store& store, const Access& access, double now_unix_s,
                     const Caller* caller = nullptr);

/// Problems: the store's.
Answer<v1::ServerStatus> get_server_status(Coordinator& coordinator, Store& store,
                                           const Access& access, const Caller& caller,
                                           const v1::GetServerStatusRequest& request);

/// Adds when the node's certificate ends, if that is known.
void add_certificate_end(const Access& access, double now_unix_s, v1::Node& node);

}  // namespace stripline::server
