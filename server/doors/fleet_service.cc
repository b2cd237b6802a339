#include <grpcpp/grpcpp.h>

#include "server/clock.h"
#include "server/core/actions.h"
#include "server/core/operations/server_status.h"
#include "server/core/reads.h"
#include "server/doors/grpc_access.h"
#include "server/doors/services.h"
#include "server/doors/unary.h"
#include "stripline/v1/fleet.grpc.pb.h"

namespace stripline::server {
namespace {

class FleetService final : public v1::Fleet::CallbackService {
 public:
  FleetService(const Core& core, CallLimits& limits) : core_(core), limits_(limits) {}

  Unary* ListNodes(GrpcContext* context, const v1::ListNodesRequest* request,
                   v1::ListNodesResponse* response) override {
    return answer_charged(context, core_, limits_, kCallCost_s, list_nodes, request, response);
  }

  Unary* GetNode(GrpcContext* context, const v1::GetNodeRequest* request,
                 v1::Node* response) override {
    return answer(context, core_, get_node, request, response);
  }

  Unary* CordonNode(GrpcContext* context, const v1::CordonNodeRequest* request,
                    v1::Node* response) override {
    return answer(context, core_, cordon_node, request, response);
  }

  Unary* DrainNode(GrpcContext* context, const v1::DrainNodeRequest* request,
                   v1::Node* response) override {
    return answer(context, core_, drain_node, request, response);
  }

  Unary* UncordonNode(GrpcContext* context, const v1::UncordonNodeRequest* request,
                      v1::Node* response) override {
    return answer(context, core_, uncordon_node, request, response);
  }

  Unary* RemoveNode(GrpcContext* context, const v1::RemoveNodeRequest* request,
                    v1::RemoveNodeResponse* response) override {
    return answer(context, core_, remove_node, request, response);
  }

  Unary* GetServerStatus(GrpcContext* context, const v1::GetServerStatusRequest* /*request*/,
                         v1::ServerStatus* response) override {
    return finish(context,
                  server_status(core_.coordinator, core_.store, core_.access,
                                caller_of(*context, core_.access), unix_seconds()),
                  response);
  }

 private:
  const Core core_;
  CallLimits& limits_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_fleet_service(const Core& core, CallLimits& limits) {
  return std::make_unique<FleetService>(core, limits);
}

}  // namespace stripline::server
