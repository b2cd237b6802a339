// How unary calls of gRPC services are carried out, and how they end.
#pragma once

#include <string>
#include <type_traits>

#include <grpcpp/grpcpp.h>

#include "server/core/wire.h"
#include "server/doors/carry_out.h"
#include "server/doors/grpc_access.h"
#include "server/doors/rpc_status.h"
#include "server/security/call_limits.h"

namespace stripline::server {

using GrpcContext = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;

/// Ends the call with this status. Returns what the method has to return.
inline Unary* finish(GrpcContext* context, const grpc::Status& status) {
  auto* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

/// Ends a call whose response says nothing: OK, or the status of the problem.
inline Unary* finish(GrpcContext* context, const Answer<bool>& done) {
  return finish(context, done ? grpc::Status::OK : rpc_status(done.problem()));
}

/// Ends the call with the answer in `response`, in its wire form, or with the status of its
/// problem.
template <typename Value, typename Message>
Unary* finish(GrpcContext* context, const Answer<Value>& answer, Message* response) {
  if (!answer) return finish(context, rpc_status(answer.problem()));
  if constexpr (std::is_same_v<Value, Message>) {
    *response = *answer;
  } else {
    *response = to_wire(*answer);
  }
  return finish(context, grpc::Status::OK);
}

/// Carries out a call by a function of the core (carry_out.h), and ends it.
template <typename Returned, typename... Parameters, typename Request, typename Response>
Unary* answer(GrpcContext* context, const Core& core, Returned (*call)(Parameters...),
              const Request* request, Response* response) {
  const Caller caller = kAsksWho<Parameters...> ? caller_of(*context, core.access) : Caller{};
  return finish(context, carry_out(call, core, *request, caller), response);
}

/// The same of a call whose caller is charged for what it takes, but `least_s` at least; it is
/// refused where nothing is left of what the caller may take.
template <typename Call, typename Request, typename Response>
Unary* answer_charged(GrpcContext* context, const Core& core, CallLimits& limits, double least_s,
                      Call* call, const Request* request, Response* response) {
  const std::string payer = payer_of(*context, core.access);
  if (const auto refusal = limits.refusal(payer)) return finish(context, rpc_status(*refusal));
  const MeteredCall metered(limits, payer, least_s);
  return answer(context, core, call, request, response);
}

}  // namespace stripline::server
