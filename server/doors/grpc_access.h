// Access (access.h) in front of the calls of gRPC: every call passes here before it reaches its
// service.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <grpcpp/server_context.h>

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
/// What is refused is counted. `access` and `meters` must outlive the server.
std::shared_ptr<grpc::ServerCredentials> make_credentials(const Access& access, Meters& meters);

/// What the metadata of a call may have: a token of an issuer (oidc::kLongestTokenBytes), and as
/// much again. A server that allows less refuses such a call before it can say why.
inline constexpr int kMaxMetadataBytes = 16 << 10;

/// By TLS, whoever calls.
std::shared_ptr<grpc::ServerCredentials> tls_credentials(const Authority& authority);

/// The caller of a call that has been let through.
Caller caller_of(const grpc::ServerContextBase& context, const Access& access);

/// Where a call comes from, without the port: "192.0.2.1", "::1".
std::string address_of(const grpc::ServerContextBase& context);

/// The caller whose allowance the call takes from (call_limits.h).
std::string payer_of(const grpc::ServerContextBase& context, const Access& access);

}  // namespace stripline::server
