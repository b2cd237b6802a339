// The gRPC services of stripline.v1; what they are made of must outlive them. Each answers what
// proto/stripline/v1 says.
#pragma once

#include <array>
#include <memory>

#include "server/core/watch_hub.h"
#include "server/doors/grpc_door.h"
#include "server/meters.h"

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

std::unique_ptr<grpc::Service> make_agents_service(const GrpcDoor& door, Meters& meters);
std::unique_ptr<grpc::Service> make_campaigns_service(const GrpcDoor& door, WatchHub& hub,
                                                      LongStreams& streams);
std::unique_ptr<grpc::Service> make_models_service(const GrpcDoor& door, LongStreams& streams);
std::unique_ptr<grpc::Service> make_operations_service(const GrpcDoor& door);
std::unique_ptr<grpc::Service> make_fleet_service(const GrpcDoor& door);
std::unique_ptr<grpc::Service> make_admin_service(const GrpcDoor& door);

}  // namespace stripline::server
