#include "agent/enrolment.h"

#include <chrono>
#include <poll.h>

#include "agent/connection.h"
#include "base/pki/certificate.h"
#include "proto/rpc_error.h"
#include "stripline/v1/agents.pb.h"

namespace stripline::agent {
namespace {

constexpr const char* kMethod = "/stripline.v1.Agents/Enroll";

// Until the call has ended or the time has passed.
Status wait_for_end(Connection& connection, const HostAndPort& server, double timeout_s) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(timeout_s));
  connection.advance();
  while (!connection.call().status()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) {
      return Error(ErrorCode::deadline_exceeded,
                   "the server at " + server.text() + " did not answer in time");
    }
    pollfd ready{connection.fd(), connection.poll_events(), 0};
    ::poll(&ready, 1, static_cast<int>(left.count()) + 1);
    connection.advance();
  }
  return {};
}

}  // namespace

Status enroll(const HostAndPort& server, const pki::Token& token, const std::string& node,
              const std::filesystem::path& identity_file, double timeout_s) {
  // The token may be good for one enrolment: what can be seen to fail afterwards fails before.
  STRIPLINE_RETURN_IF_ERROR(check_identity_file(identity_file));
  STRIPLINE_ASSIGN_OR_RETURN(const pki::PrivateKey key, pki::PrivateKey::generate());
  v1::EnrollRequest request;
  request.set_token(token.text());
  request.set_node(node);
  STRIPLINE_ASSIGN_OR_RETURN(*request.mutable_request_pem(), pki::make_request(key));
  const Transport transport{
      pki::TlsSettings{.host = server.host, .authority_sha256 = token.authority_sha256}, ""};
  Connection connection(server, kMethod, transport, 0);
  connection.call().send(request.SerializeAsString());
  connection.call().finish();
  STRIPLINE_RETURN_IF_ERROR(wait_for_end(connection, server, timeout_s));
  const GrpcStatus& status = *connection.call().status();
  if (status.code != 0) {
    return rpc_error_from(status.code, status.message, status.details)
        .error.with_context("cannot enrol nodes/" + node + " at " + server.text());
  }
  v1::EnrollResponse response;
  const auto messages = connection.call().take_messages();
  if (messages.size() != 1 || !response.ParseFromString(messages.front())) {
    return Error(ErrorCode::unavailable,
                 "the server at " + server.text() + " answered an enrolment with what is none");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const pki::Certificate certificate,
                             pki::Certificate::from_pem(response.certificate_pem()));
  if (!certificate.belongs_to(key)) {
    return Error(ErrorCode::data_loss, "the server certified another key than this node's");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string key_pem, key.pem());
  STRIPLINE_ASSIGN_OR_RETURN(const std::string own_pem, certificate.pem());
  return write_identity(identity_file, {key_pem, own_pem, connection.authority_pem()});
}

bool is_enrolled(const std::filesystem::path& identity_file, const pki::Token& token,
                 double now_unix_s) {
  const auto identity = read_identity(identity_file);
  if (!identity.ok()) return false;
  const auto own = pki::Certificate::from_pem(identity->certificate_pem);
  const auto authority = pki::Certificate::from_pem(identity->authority_pem);
  return own.ok() && authority.ok() && authority->sha256() == token.authority_sha256 &&
         now_unix_s < own->not_after_unix_s();
}

}  // namespace stripline::agent
