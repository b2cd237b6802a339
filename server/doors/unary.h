// How unary calls of gRPC services end.
#pragma once

#include <type_traits>

#include <grpcpp/grpcpp.h>

#include "server/core/wire.h"
#include "server/doors/rpc_status.h"

namespace stripline::server {

/// Ends the call with this status. Returns what the method has to return.
inline grpc::ServerUnaryReactor* finish(grpc::CallbackServerContext* context,
                                        const grpc::Status& status) {
  auto* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

/// Ends a call whose response says nothing: OK, or the status of the problem.
inline grpc::ServerUnaryReactor* finish(grpc::CallbackServerContext* context,
                                        const Answer<bool>& done) {
  return finish(context, done ? grpc::Status::OK : rpc_status(done.problem()));
}

/// Ends the call with the answer in `response`, in its wire form, or with the status of its
/// problem.
template <typename Value, typename Message>
grpc::ServerUnaryReactor* finish(grpc::CallbackServerContext* context, const Answer<Value>& answer,
                                 Message* response) {
  if (!answer) return finish(context, rpc_status(answer.problem()));
  if constexpr (std::is_same_v<Value, Message>) {
    *response = *answer;
  } else {
    *response = to_wire(*answer);
  }
  return finish(context, grpc::Status::OK);
}

}  // namespace stripline::server
