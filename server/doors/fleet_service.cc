#include <string>

#include <grpcpp/grpcpp.h>

#include "server/clock.h"
#include "server/core/actions.h"
#include "server/core/operations/server_status.h"
#include "server/core/reads.h"
#include "server/doors/grpc_access.h"
#include "server/doors/rpc_status.h"
#include "server/doors/services.h"
#include "server/doors/unary.h"
#include "server/security/call_limits.h"
#include "stripline/v1/fleet.grpc.pb.h"

namespace stripline::server {
namespace {

class FleetService final : public v1::Fleet::CallbackService {
 public:
  FleetService(Coordinator& coordinator, Store& store, const Access& access, CallLimits& limits)
      : coordinator_(coordinator), store_(store), limits_(limits), access_(access) {}

  grpc::ServerUnaryReactor* ListNodes(grpc::CallbackServerContext* context,
                                      const v1::ListNodesRequest* request,
                                      v1::ListNodesResponse* response) override {
    const std::string payer = payer_of(*context, access_);
    if (const auto refusal = limits_.refusal(payer)) return finish(context, rpc_status(*refusal));
    const MeteredCall metered(limits_, payer);
    return finish(context, list_nodes(coordinator_, access_, *request), response);
  }

  grpc::ServerUnaryReactor* GetNode(grpc::CallbackServerContext* context,
                                    const v1::GetNodeRequest* request,
                                    v1::Node* response) override {
    return finish(context, get_node(coordinator_, access_, *request), response);
  }

  grpc::ServerUnaryReactor* CordonNode(grpc::CallbackServerContext* context,
                                       const v1::CordonNodeRequest* request,
                                       v1::Node* response) override {
    return finish(context, cordon_node(coordinator_, *request, actor(*context)), response);
  }

  grpc::ServerUnaryReactor* DrainNode(grpc::CallbackServerContext* context,
                                      const v1::DrainNodeRequest* request,
                                      v1::Node* response) override {
    return finish(context, drain_node(coordinator_, *request, actor(*context)), response);
  }

  grpc::ServerUnaryReactor* UncordonNode(grpc::CallbackServerContext* context,
                                         const v1::UncordonNodeRequest* request,
                                         v1::Node* response) override {
    return finish(context, uncordon_node(coordinator_, *request, actor(*context)), response);
  }

  grpc::ServerUnaryReactor* RemoveNode(grpc::CallbackServerContext* context,
                                       const v1::RemoveNodeRequest* request,
                                       v1::RemoveNodeResponse* /*response*/) override {
    const auto name = node_segment(request->name());
    if (!name) return finish(context, rpc_status(name.problem()));
    return finish(context, coordinator_.fleet().remove_node(*name, actor(*context)));
  }

  grpc::ServerUnaryReactor* GetServerStatus(grpc::CallbackServerContext* context,
                                            const v1::GetServerStatusRequest* /*request*/,
                                            v1::ServerStatus* response) override {
    return finish(
        context,
        server_status(coordinator_, store_, access_, caller_of(*context, access_), unix_seconds()),
        response);
  }

 private:
  std::string actor(const grpc::CallbackServerContext& context) const {
    return caller_of(context, access_).name;
  }

  Coordinator& coordinator_;
  Store& store_;
  CallLimits& limits_;
  const Access& access_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_fleet_service(Coordinator& coordinator, Store& store,
                                                  const Access& access, CallLimits& limits) {
  return std::make_unique<FleetService>(coordinator, store, access, limits);
}

}  // namespace stripline::server
