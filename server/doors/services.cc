// The services of gRPC that the table of calls (calls.cc) has whole. campaigns_service.cc and
// models_service.cc have streams besides; agents_service.cc is a protocol of its own.
#include "server/doors/services.h"

#include "server/doors/unary.h"
#include "stripline/v1/access.grpc.pb.h"
#include "stripline/v1/fleet.grpc.pb.h"
#include "stripline/v1/operations.grpc.pb.h"

namespace stripline::server {
namespace {

template <typename Generated>
std::unique_ptr<grpc::Service> table_service(const GrpcDoor& door) {
  return std::make_unique<TableService<typename Generated::Service>>(Generated::service_full_name(),
                                                                     door);
}

}  // namespace

std::unique_ptr<grpc::Service> make_operations_service(const GrpcDoor& door) {
  return table_service<v1::Operations>(door);
}

std::unique_ptr<grpc::Service> make_fleet_service(const GrpcDoor& door) {
  return table_service<v1::Fleet>(door);
}

std::unique_ptr<grpc::Service> make_admin_service(const GrpcDoor& door) {
  return table_service<v1::Admin>(door);
}

}  // namespace stripline::server
