// The gRPC services of stripline.v1 over the coordinator, the store, the hub, limits and the pool
// for long reads, which must outlive them. Each answers what proto/stripline/v1 says.
#pragma once

#include <array>
#include <memory>

#include "server/core/campaigns/run_results.h"
#include "server/core/coordinator.h"
#include "server/core/watch_hub.h"
#include "server/doors/core.h"
#include "server/doors/reading_pool.h"
#include "server/security/access.h"
#include "server/security/call_limits.h"
#include "server/store/store.h"

namespace grpc {
class Service;
}

namespace stripline::server {

class LongStreams;

/// In the standard health service the empty name says that the process lives; these, that it can do
/// its work.
inline constexpr std::array kReadyServices = {"stripline.v1.Agents",
                                              "stripline.v1.Campaigns",
                                              "stripline.v1.Models",
                                              "stripline.v1.Operations",
                                              "stripline.v1.Fleet",
                                              "stripline.v1.Admin",
                                              "readiness"};

std::unique_ptr<grpc::Service> make_agents_service(Coordinator& coordinator, Access& access,
                                                   Meters& meters, CallLimits& limits);
std::unique_ptr<grpc::Service> make_campaigns_service(const Core& core, WatchHub& hub,
                                                      CallLimits& limits, ReadingPool& reading,
                                                      LongStreams& streams, RunResults& results);
std::unique_ptr<grpc::Service> make_models_service(const Core& core, CallLimits& limits,
                                                   ReadingPool& reading, LongStreams& streams);
std::unique_ptr<grpc::Service> make_operations_service(const Core& core, CallLimits& limits,
                                                       ReadingPool& reading);
std::unique_ptr<grpc::Service> make_fleet_service(const Core& core, CallLimits& limits,
                                                  ReadingPool& reading);
std::unique_ptr<grpc::Service> make_admin_service(const Core& core, CallLimits& limits,
                                                  ReadingPool& reading);

}  // namespace stripline::server
