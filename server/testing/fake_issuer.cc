#include "server/testing/fake_issuer.h"

#include <cmath>
#include <httplib.h>
#include <openssl/sha.h>
#include <thread>
#include <utility>

#include "base/web/base64url.h"
#include "base/web/url.h"
#include "server/clock.h"

namespace stripline::server::oidc {
namespace {

std::string challenge_of(const std::string& verifier) {
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(verifier.data()), verifier.size(), hash);
  return web::to_base64url({reinterpret_cast<const char*>(hash), sizeof hash});
}

void answer(httplib::Response& response, int status, const Json& json) {
  response.status = status;
  response.set_content(json.dump(), "application/json");
}

}  // namespace

FakeIssuer::FakeIssuer() : signer_(Signer::elliptic()), server_(std::make_unique<httplib::Server>()) {
  keys_ = {{"keys", Json::array({signer_.jwk(key_id_)})}};
  serve();
  port_ = server_->bind_to_any_port("127.0.0.1");
  thread_ = std::thread([this] { server_->listen_after_bind(); });
  while (!server_->is_running()) std::this_thread::yield();
}

FakeIssuer::~FakeIssuer() {
  server_->stop();
  thread_.join();
}

std::string FakeIssuer::token(const std::string& name, const Json& groups, const Json& more) const {
  const std::lock_guard lock(mutex_);
  const double now_s = std::floor(unix_seconds());
  Json claims = {{"iss", url()},    {"aud", client_id},    {"sub", "id-of-" + name},
                 {"iat", now_s},    {"exp", now_s + 3600}, {"preferred_username", name},
                 {"groups", groups}};
  if (more.is_object()) claims.merge_patch(more);
  return signer_.token({{"alg", "ES256"}, {"kid", key_id_}, {"typ", "JWT"}}, claims);
}

void FakeIssuer::sign_in(const std::string& name, const Json& groups, const Json& more) {
  const std::lock_guard lock(mutex_);
  name_ = name;
  groups_ = groups;
  more_ = more;
}

void FakeIssuer::rotate() {
  const std::lock_guard lock(mutex_);
  signer_ = Signer::elliptic();
  key_id_ += "n";
  keys_ = {{"keys", Json::array({signer_.jwk(key_id_)})}};
}

void FakeIssuer::set_discovery(const Json& more) {
  const std::lock_guard lock(mutex_);
  more_discovery_ = more;
}

std::string FakeIssuer::visit(const std::string& authorization_url) {
  httplib::Client browser(url());
  const auto answer = browser.Get(authorization_url.substr(url().size()));
  return answer ? answer->get_header_value("Location") : "";
}

Json FakeIssuer::discovery() const {
  Json said = {{"issuer", url()},
               {"authorization_endpoint", url() + "/authorize"},
               {"token_endpoint", url() + "/token"},
               {"jwks_uri", url() + "/keys"}};
  said.merge_patch(more_discovery_);
  return said;
}

std::string FakeIssuer::id_token(const std::string& nonce) const {
  Json more;
  std::string name;
  Json groups;
  {
    const std::lock_guard lock(mutex_);
    more = more_.is_object() ? more_ : Json::object();
    name = name_;
    groups = groups_;
  }
  if (!nonce.empty() && !more.contains("nonce")) more["nonce"] = nonce;
  return token(name, groups, more);
}

void FakeIssuer::serve() {
  server_->set_pre_routing_handler([this](const httplib::Request&, httplib::Response& response) {
    if (!down_) return httplib::Server::HandlerResponse::Unhandled;
    response.status = 503;
    return httplib::Server::HandlerResponse::Handled;
  });
  server_->Get("/.well-known/openid-configuration",
               [this](const httplib::Request&, httplib::Response& response) {
                 const std::lock_guard lock(mutex_);
                 answer(response, 200, discovery());
               });
  server_->Get("/keys", [this](const httplib::Request&, httplib::Response& response) {
    ++keys_asked;
    const std::lock_guard lock(mutex_);
    answer(response, 200, keys_);
  });
  server_->Get("/authorize", [this](const httplib::Request& request, httplib::Response& response) {
    if (request.get_param_value("client_id") != client_id ||
        request.get_param_value("response_type") != "code" ||
        request.get_param_value("code_challenge_method") != "S256") {
      response.status = 400;
      return;
    }
    const std::lock_guard lock(mutex_);
    const std::string code = "code" + std::to_string(codes_.size());
    codes_[code] = {request.get_param_value("redirect_uri"),
                    request.get_param_value("code_challenge"), request.get_param_value("nonce")};
    response.set_redirect(codes_[code].redirect_uri + "?code=" + code +
                          "&state=" + request.get_param_value("state"));
  });
  server_->Post("/token", [this](const httplib::Request& request, httplib::Response& response) {
    ++tokens_asked;
    const auto refuse = [&](const char* why) { answer(response, 400, {{"error", why}}); };
    if (client_secret.empty()) {
      if (request.get_param_value("client_id") != client_id) return refuse("invalid_client");
    } else {
      const auto header = httplib::make_basic_authentication_header(
          web::percent_encoded(client_id), web::percent_encoded(client_secret), false);
      if (request.get_header_value("Authorization") != header.second) {
        return refuse("invalid_client");
      }
    }
    Code code;
    {
      const std::lock_guard lock(mutex_);
      const auto found = codes_.find(request.get_param_value("code"));
      if (found == codes_.end()) return refuse("invalid_grant");
      code = found->second;
      found->second.challenge.clear();  // once
    }
    if (request.get_param_value("redirect_uri") != code.redirect_uri ||
        challenge_of(request.get_param_value("code_verifier")) != code.challenge) {
      return refuse("invalid_grant");
    }
    answer(response, 200, {{"id_token", id_token(code.nonce)}, {"token_type", "Bearer"}});
  });
}

}  // namespace stripline::server::oidc
