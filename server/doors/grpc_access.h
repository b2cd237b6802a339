// Access (access.h) in front of the calls of gRPC: every call is judged before it reaches its
// service, and once more there, where it is known from where it comes.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <grpcpp/server_context.h>

#include "proto/methods.h"
#include "server/doors/grpc_door.h"
#include "server/meters.h"
#include "server/security/access.h"

namespace grpc {
class ServerCredentials;
}

namespace stripline::server {

/// What each method of stripline.v1 needs, as its .proto says ("/stripline.v1.Fleet/GetNode").
/// Public ones need Role::nobody; a method that does not say is not in it.
std::map<std::string, Role> method_roles();

/// How connections are taken: in plain text from anywhere when `access` is open to all, in plain
/// text from this machine with a secret, by TLS with an authority, whose files are read again when
/// they change. In the latter two every call is judged first, and an unknown method is refused.
/// Some refused calls go on to where their address is known: admitted() refuses them. The others
/// are counted. `access` and `meters` must outlive the server.
std::shared_ptr<grpc::ServerCredentials> make_credentials(const Access& access, Meters& meters);

/// What the metadata of a call may have: a token of an issuer (oidc::kLongestTokenBytes), and as
/// much again. A server that allows less refuses such a call before it can say why.
inline constexpr int kMaxMetadataBytes = 16 << 10;

/// By TLS, whoever calls.
std::shared_ptr<grpc::ServerCredentials> tls_credentials(const Authority& authority);

/// The caller of a call of this method, if he may call it: every handler asks, before anything
/// else. A refused call is counted and logged, with its address. Problems: UNAUTHENTICATED,
/// PERMISSION_DENIED.
Answer<Caller> admitted(const grpc::ServerContextBase& context, const GrpcDoor& door,
                        const google::protobuf::MethodDescriptor& method);

/// The same of the method that takes messages of this type (methods.h).
template <typename Request>
Answer<Caller> admitted(const grpc::ServerContextBase& context, const GrpcDoor& door) {
  static const google::protobuf::MethodDescriptor& method = method_taking(*Request::descriptor());
  return admitted(context, door, method);
}

/// Where a call comes from, without the port: "192.0.2.1", "::1".
std::string address_of(const grpc::ServerContextBase& context);

/// The one whose allowance a call of this caller takes from (call_limits.h).
std::string payer_of(const grpc::ServerContextBase& context, const Caller& caller);

}  // namespace stripline::server
