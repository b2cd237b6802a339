#include <grpcpp/grpcpp.h>

#include "server/call_limits.h"
#include "server/clock.h"
#include "server/grpc_access.h"
#include "server/reads.h"
#include "server/rpc_status.h"
#include "server/services.h"
#include "server/wire.h"
#include "stripline/v1/fleet.grpc.pb.h"

namespace stripline::server {
namespace {

constexpr double kMostDrain_s = 30.0 * 86400;

class FleetService final : public v1::Fleet::CallbackService {
 public:
  FleetService(Coordinator& coordinator, const Access& access)
      : coordinator_(coordinator), access_(access) {}

  grpc::ServerUnaryReactor* ListNodes(grpc::CallbackServerContext* context,
                                      const v1::ListNodesRequest* request,
                                      v1::ListNodesResponse* response) override {
    const auto refusal = limits_.refusal(*context);
    return finish(context, refusal ? rpc_status(*refusal)
                                   : answer(list_nodes(coordinator_, *request), *response));
  }

  grpc::ServerUnaryReactor* GetNode(grpc::CallbackServerContext* context,
                                    const v1::GetNodeRequest* request,
                                    v1::Node* response) override {
    return finish(context, answer(get_node(coordinator_, *request), *response));
  }

  grpc::ServerUnaryReactor* CordonNode(grpc::CallbackServerContext* context,
                                       const v1::CordonNodeRequest* request,
                                       v1::Node* response) override {
    return finish(context, with_node(*request, [&](const std::string& name) {
                    return answer(coordinator_.hold_node({name, request->reason(), actor(*context),
                                                          unix_seconds(), 0}),
                                  *response);
                  }));
  }

  grpc::ServerUnaryReactor* DrainNode(grpc::CallbackServerContext* context,
                                      const v1::DrainNodeRequest* request,
                                      v1::Node* response) override {
    return finish(
        context, with_node(*request, [&](const std::string& name) {
          const double limit_s = request->time_limit_s();
          if (!(limit_s >= 0 && limit_s <= kMostDrain_s)) {
            return rpc_status(invalid_field("time_limit_s", "0 seconds to 30 days are possible"));
          }
          const double now_s = unix_seconds();
          const double deadline_s = request->has_time_limit_s() ? now_s + limit_s : 0;
          return answer(
              coordinator_.hold_node({name, request->reason(), actor(*context), now_s, deadline_s}),
              *response);
        }));
  }

  grpc::ServerUnaryReactor* UncordonNode(grpc::CallbackServerContext* context,
                                         const v1::UncordonNodeRequest* request,
                                         v1::Node* response) override {
    return finish(context, with_node(*request, [&](const std::string& name) {
                    return answer(coordinator_.release_node(name, actor(*context)), *response);
                  }));
  }

  grpc::ServerUnaryReactor* RemoveNode(grpc::CallbackServerContext* context,
                                       const v1::RemoveNodeRequest* request,
                                       v1::RemoveNodeResponse* /*response*/) override {
    return finish(context, with_node(*request, [&](const std::string& name) {
                    const auto removed = coordinator_.remove_node(name, actor(*context));
                    return removed ? grpc::Status::OK : rpc_status(removed.problem());
                  }));
  }

 private:
  static grpc::ServerUnaryReactor* finish(grpc::CallbackServerContext* context,
                                          const grpc::Status& status) {
    auto* reactor = context->DefaultReactor();
    reactor->Finish(status);
    return reactor;
  }

  template <typename Message>
  static grpc::Status answer(const Answer<Message>& message, Message& response) {
    if (message) response = *message;
    return message ? grpc::Status::OK : rpc_status(message.problem());
  }
  static grpc::Status answer(const Answer<NodeView>& node, v1::Node& response) {
    if (!node) return rpc_status(node.problem());
    response = to_wire(*node);
    return grpc::Status::OK;
  }

  std::string actor(const grpc::CallbackServerContext& context) const {
    return caller_of(context, access_).name;
  }

  // What `act` says to the node that the request names.
  template <typename Request, typename Act>
  static grpc::Status with_node(const Request& request, Act act) {
    const auto name = parse_node_name(request.name());
    if (name) return act(*name);
    return rpc_status(
        invalid_field("name", "'" + request.name() + "' is not of the form nodes/NAME"));
  }

  Coordinator& coordinator_;
  CallLimits limits_;
  const Access& access_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_fleet_service(Coordinator& coordinator, const Access& access) {
  return std::make_unique<FleetService>(coordinator, access);
}

}  // namespace stripline::server
