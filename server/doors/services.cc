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
std::unique_ptr<grpc::Service> table_service(const Core& core, CallLimits& limits,
                                             ReadingPool& reading) {
  return std::make_unique<TableService<typename Generated::Service>>(Generated::service_full_name(),
                                                                     core, limits, reading);
}

}  // namespace

std::unique_ptr<grpc::Service> make_operations_service(const Core& core, CallLimits& limits,
                                                       ReadingPool& reading) {
  return table_service<v1::Operations>(core, limits, reading);
}

std::unique_ptr<grpc::Service> make_fleet_service(const Core& core, CallLimits& limits,
                                                  ReadingPool& reading) {
  return table_service<v1::Fleet>(core, limits, reading);
}

std::unique_ptr<grpc::Service> make_admin_service(const Core& core, CallLimits& limits,
                                                  ReadingPool& reading) {
  return table_service<v1::Admin>(core, limits, reading);
}

}  // namespace stripline::server
