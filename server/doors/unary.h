// How gRPC carries out the unary calls of the table (calls.cc).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include "server/doors/api.h"
#include "server/doors/carry_out.h"
#include "server/doors/grpc_access.h"
#include "server/doors/reading_pool.h"
#include "server/doors/rpc_status.h"
#include "server/security/call_limits.h"

namespace stripline::server {

using GrpcContext = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;
using UnaryHandler = std::unique_ptr<grpc::internal::MethodHandler>;

/// Ends the call with this status. Returns what the method has to return.
inline Unary* finish(GrpcContext* context, const grpc::Status& status) {
  auto* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

/// Charges the one who pays, from now until `metered` is destroyed where time is charged. Problems:
/// nothing is left of what he may take.
std::optional<Problem> begin_charge(const std::string& payer, CallLimits& limits,
                                    const GrpcCharge& charge, std::optional<MeteredCall>& metered);

/// Has a call carried out in the pool for long reads, at the expense of the one who pays: `work`
/// answers with its status. Returns what the method has to return.
Unary* carry_out_in_pool(GrpcContext* context, const GrpcDoor& door, const std::string& payer,
                         double least_s, std::function<grpc::Status()> work);

/// The handler of a method that a function of the core carries out (carry_out.h).
template <auto kCall>
UnaryHandler unary_handler(const GrpcDoor& door, const GrpcCharge& charge) {
  using Request = RequestOf<kCall>;
  using Response = ResponseOf<kCall>;
  const auto carry_out_now = [core = door.core](const Caller& caller, const Request& request,
                                                Response& response) -> grpc::Status {
    auto answer = carry_out(kCall, core, request, caller);
    if (!answer) return rpc_status(answer.problem());
    response = std::move(*answer);
    return grpc::Status::OK;
  };
  const auto carry = [door, charge, carry_out_now](GrpcContext* context, const Request* request,
                                                   Response* response) -> Unary* {
    const auto caller = admitted<Request>(*context, door);
    if (!caller) return finish(context, rpc_status(caller.problem()));
    const std::string payer = payer_of(*context, *caller);
    if (charge.is_long) {
      return carry_out_in_pool(context, door, payer, charge.least_s, [=, caller = *caller] {
        return carry_out_now(caller, *request, *response);
      });
    }
    std::optional<MeteredCall> metered;
    if (const auto refusal = begin_charge(payer, door.limits, charge, metered)) {
      return finish(context, rpc_status(*refusal));
    }
    return finish(context, carry_out_now(*caller, *request, *response));
  };
  // What gRPC's generated services hand to their base class, too.
  return std::make_unique<grpc::internal::CallbackUnaryHandler<Request, Response>>(carry);
}

/// The handlers of a service's methods that the table has, with the places of these in the service
/// ("stripline.v1.Fleet").
std::vector<std::pair<int, UnaryHandler>> unary_handlers(const std::string& service,
                                                         const GrpcDoor& door);

/// A service whose methods are those of the table, and those that `Base` has by gRPC's
/// WithCallbackMethod_NAME: streams, and unary calls that do more than a function of the core.
template <typename Base>
class TableService : public Base {
 public:
  TableService(const std::string& service, const GrpcDoor& door) {
    for (auto& [place, handler] : unary_handlers(service, door)) {
      this->MarkMethodCallback(place, handler.release());
    }
  }
};

}  // namespace stripline::server
