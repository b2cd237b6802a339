#include "tests/load/administrator.h"

#include "base/pki/token.h"
#include "stripline/v1/access.grpc.pb.h"

namespace stripline::load {

std::string Administrator::new_secret(v1::Role role, const std::string& user) const {
  v1::CreateTokenRequest request;
  request.set_role(role);
  request.set_subject(user);
  const auto admin = stub<v1::Admin>();
  const auto made = ask(*admin, &v1::Admin::Stub::CreateToken, request);
  return need(pki::parse_token(made.text())).secret;
}

std::shared_ptr<grpc::Channel> Administrator::channel() const {
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = authority_pem_;
  return grpc::CreateChannel(server_, grpc::SslCredentials(options));
}

}  // namespace stripline::load
