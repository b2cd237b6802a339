// How gRPC carries out the unary calls of the table (calls.cc).
#pragma once

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

/// Charges the caller, from now until `metered` is destroyed where time is charged. Problems:
/// nothing is left of what the caller may take.
std::optional<Problem> begin_charge(const GrpcContext& context, const Core& core,
                                    CallLimits& limits, const GrpcCharge& charge,
                                    std::optional<MeteredCall>& metered);

/// The handler of a method that a function of the core carries out (carry_out.h). `core` and
/// `limits` must outlive it.
template <auto kCall>
UnaryHandler unary_handler(const Core& core, CallLimits& limits, const GrpcCharge& charge) {
  using Request = RequestOf<kCall>;
  using Response = ResponseOf<kCall>;
  const auto carry = [core, &limits, charge](GrpcContext* context, const Request* request,
                                             Response* response) -> Unary* {
    std::optional<MeteredCall> metered;
    if (const auto refusal = begin_charge(*context, core, limits, charge, metered)) {
      return finish(context, rpc_status(*refusal));
    }
    const Caller caller = asks_who(kCall) ? caller_of(*context, core.access) : Caller{};
    auto answer = carry_out(kCall, core, *request, caller);
    if (!answer) return finish(context, rpc_status(answer.problem()));
    *response = std::move(*answer);
    return finish(context, grpc::Status::OK);
  };
  // What gRPC's generated services hand to their base class, too.
  return std::make_unique<grpc::internal::CallbackUnaryHandler<Request, Response>>(carry);
}

/// The handlers of a service's methods that the table has, with the places of these in the service
/// ("stripline.v1.Fleet").
std::vector<std::pair<int, UnaryHandler>> unary_handlers(const std::string& service,
                                                         const Core& core, CallLimits& limits);

/// A service whose methods are those of the table, and those that `Base` has by gRPC's
/// WithCallbackMethod_NAME: streams, and unary calls that do more than a function of the core.
template <typename Base>
class TableService : public Base {
 public:
  TableService(const std::string& service, const Core& core, CallLimits& limits) {
    for (auto& [place, handler] : unary_handlers(service, core, limits)) {
      this->MarkMethodCallback(place, handler.release());
    }
  }
};

}  // namespace stripline::server
