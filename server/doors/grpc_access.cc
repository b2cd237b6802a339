#include "server/doors/grpc_access.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <utility>

#include <google/protobuf/descriptor.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/security/auth_metadata_processor.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "proto/methods.h"
#include "server/clock.h"
#include "server/doors/rpc_status.h"
#include "server/security/call_limits.h"
#include "server/security/rate_limit.h"
#include "server/security/refusals.h"
#include "stripline/v1/access.pb.h"
#include "stripline/v1/agents.pb.h"
#include "stripline/v1/campaigns.pb.h"
#include "stripline/v1/fleet.pb.h"
#include "stripline/v1/models.pb.h"
#include "stripline/v1/operations.pb.h"

namespace stripline::server {
namespace {

constexpr std::string_view kBearer = "Bearer ";
// How soon a renewed certificate of the server is served.
constexpr unsigned kReadFilesEvery_s = 10;

// The standard health service says whether the server is up, and no more.
const std::set<std::string, std::less<>>& public_methods_of_grpc() {
  static const std::set<std::string, std::less<>> kMethods = {"/grpc.health.v1.Health/Check",
                                                              "/grpc.health.v1.Health/Watch"};
  return kMethods;
}

std::optional<Role> role_of(const google::protobuf::MethodDescriptor& method) {
  switch (method.options().GetExtension(v1::role)) {
    case v1::PUBLIC:
      return Role::nobody;
    case v1::AGENT:
      return Role::agent;
    case v1::VIEWER:
      return Role::viewer;
    case v1::OPERATOR:
      return Role::operator_;
    case v1::PUBLISHER:
      return Role::publisher;
    case v1::ADMIN:
      return Role::admin;
    default:
      return std::nullopt;
  }
}

// What the metadata show, as gRPC hands them out: keys in lower case.
template <typename Metadata>
Credentials credentials_from(const Metadata& metadata, const grpc::AuthContext* context) {
  Credentials credentials;
  if (const auto found = metadata.find("authorization"); found != metadata.end()) {
    std::string_view text(found->second.data(), found->second.size());
    if (text.starts_with(kBearer)) text.remove_prefix(kBearer.size());
    credentials.bearer = text;
  }
  if (context != nullptr) {
    const auto pem = context->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
    if (!pem.empty()) credentials.certificate_pem.assign(pem.front().data(), pem.front().size());
  }
  return credentials;
}

class Judge final : public grpc::AuthMetadataProcessor {
 public:
  Judge(const Access& access, Meters& meters)
      : access_(access), meters_(meters), roles_(method_roles()) {}

  bool IsBlocking() const override { return false; }

  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* context,
                       OutputMetadata* /*consumed*/, OutputMetadata* /*response*/) override {
    const auto path = metadata.find(":path");
    if (path == metadata.end()) return {grpc::StatusCode::INTERNAL, "a call without a path"};
    const std::string method(path->second.data(), path->second.size());
    if (public_methods_of_grpc().contains(method)) return grpc::Status::OK;
    const auto role = roles_.find(method);
    if (role == roles_.end()) return {grpc::StatusCode::UNIMPLEMENTED, "there is no such method"};
    // What works without showing anything works with anything: a new token cannot be had else.
    if (role->second == Role::nobody) return grpc::Status::OK;
    const auto caller =
        access_.authorize(credentials_from(metadata, context), role->second, unix_seconds());
    if (caller || goes_on(method + " " + caller.problem().message)) return grpc::Status::OK;
    meters_.count(Meters::Counter::calls_refused);
    return rpc_status(caller.problem());
  }

 private:
  // The handler knows the address, and refuses, too. But it is called when the server has read what
  // the caller sends: strangers cannot have it do that often.
  bool goes_on(const std::string& refusal) {
    const std::lock_guard lock(mutex_);
    return going_on_.try_take(refusal, steady_seconds());
  }

  const Access& access_;
  Meters& meters_;
  const std::map<std::string, Role> roles_;
  std::mutex mutex_;
  CappedAllowances going_on_{{.per_s = 0.5, .burst = 10}, {.per_s = 2, .burst = 100}};
};

}  // namespace

std::map<std::string, Role> method_roles() {
  const std::array files{
      v1::AgentMessage::descriptor()->file(), v1::Campaign::descriptor()->file(),
      v1::Model::descriptor()->file(),        v1::Operation::descriptor()->file(),
      v1::Node::descriptor()->file(),         v1::Token::descriptor()->file()};
  std::map<std::string, Role> roles;
  for (const google::protobuf::FileDescriptor* file : files) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        const auto& method = *file->service(s)->method(m);
        if (const auto role = role_of(method)) roles[path_of(method)] = *role;
      }
    }
  }
  return roles;
}

std::shared_ptr<grpc::ServerCredentials> tls_credentials(const Authority& authority) {
  const auto files = std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      authority.server_key_file().string(), authority.server_certificate_file().string(),
      authority.authority_file().string(), kReadFilesEvery_s);
  grpc::experimental::TlsServerCredentialsOptions options(files);
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  // Users and nodes that are to be enrolled have none. Access judges a certificate that is shown: a
  // handshake that fails says nothing to either side.
  options.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_BUT_DONT_VERIFY);
  return grpc::experimental::TlsServerCredentials(options);
}

std::shared_ptr<grpc::ServerCredentials> make_credentials(const Access& access, Meters& meters) {
  if (access.is_open()) return grpc::InsecureServerCredentials();
  auto credentials = access.authority() ? tls_credentials(*access.authority())
                                        : grpc::experimental::LocalServerCredentials(LOCAL_TCP);
  credentials->SetAuthMetadataProcessor(std::make_shared<Judge>(access, meters));
  return credentials;
}

Answer<Caller> admitted(const grpc::ServerContextBase& context, const GrpcDoor& door,
                        const google::protobuf::MethodDescriptor& method) {
  const Access& access = door.core.access;
  const auto who = access.is_open() ? nullptr : context.auth_context();
  const Credentials shown = credentials_from(context.client_metadata(), who.get());
  const Role role = role_of(method).value_or(Role::admin);
  if (role == Role::nobody) {
    auto caller = access.identify(shown, unix_seconds());
    return caller ? std::move(*caller) : Caller{};
  }
  auto caller = access.authorize(shown, role, unix_seconds());
  if (!caller) {
    door.refusals.note(path_of(method), address_of(context), caller.problem().message);
  }
  return caller;
}

std::string address_of(const grpc::ServerContextBase& context) {
  std::string peer = context.peer();  // "ipv4:192.0.2.1:40000", "ipv6:%5B::1%5D:40000"
  peer.erase(std::min(peer.size(), peer.rfind(':')));
  peer.erase(0, peer.find(':') + 1);
  for (const std::string_view bracket : {"%5B", "%5D", "[", "]"}) {
    if (const size_t at = peer.find(bracket); at != std::string::npos) {
      peer.erase(at, bracket.size());
    }
  }
  return peer;
}

std::string payer_of(const grpc::ServerContextBase& context, const Caller& caller) {
  return payer_of(caller, address_of(context));
}

}  // namespace stripline::server
