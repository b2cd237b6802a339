#include <grpcpp/grpcpp.h>

#include "server/call_limits.h"
#include "server/page_token.h"
#include "server/rpc_status.h"
#include "server/services.h"
#include "server/wire.h"
#include "stripline/v1/fleet.grpc.pb.h"

namespace stripline::server {
namespace {

class FleetService final : public v1::Fleet::CallbackService {
 public:
  explicit FleetService(Coordinator& coordinator) : coordinator_(coordinator) {}

  grpc::ServerUnaryReactor* ListNodes(grpc::CallbackServerContext* context,
                                      const v1::ListNodesRequest* request,
                                      v1::ListNodesResponse* response) override {
    auto* reactor = context->DefaultReactor();
    const auto refusal = limits_.refusal(*context);
    reactor->Finish(refusal ? rpc_status(*refusal) : list(*request, *response));
    return reactor;
  }

  grpc::ServerUnaryReactor* GetNode(grpc::CallbackServerContext* context,
                                    const v1::GetNodeRequest* request,
                                    v1::Node* response) override {
    auto* reactor = context->DefaultReactor();
    reactor->Finish(get(*request, *response));
    return reactor;
  }

 private:
  grpc::Status list(const v1::ListNodesRequest& request, v1::ListNodesResponse& response) {
    const auto limit = page_limit(request.page_size());
    if (!limit) return rpc_status(limit.problem());
    const auto after = read_page_token("nodes", request.page_token());
    if (!after) return rpc_status(after.problem());
    const auto nodes = coordinator_.nodes(*after, *limit + 1);
    if (!nodes) return rpc_status(nodes.problem());
    for (size_t i = 0; i < nodes->size() && i < *limit; ++i) {
      *response.add_nodes() = to_wire((*nodes)[i]);
    }
    if (nodes->size() > *limit) {
      response.set_next_page_token(make_page_token("nodes", (*nodes)[*limit - 1].record.name));
    }
    return grpc::Status::OK;
  }

  grpc::Status get(const v1::GetNodeRequest& request, v1::Node& response) {
    const auto name = parse_node_name(request.name());
    if (!name) {
      return rpc_status(
          invalid_field("name", "'" + request.name() + "' is not of the form nodes/NAME"));
    }
    const auto node = coordinator_.node(*name);
    if (!node) return rpc_status(node.problem());
    response = to_wire(*node);
    return grpc::Status::OK;
  }

  Coordinator& coordinator_;
  CallLimits limits_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_fleet_service(Coordinator& coordinator) {
  return std::make_unique<FleetService>(coordinator);
}

}  // namespace stripline::server
