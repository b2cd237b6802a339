#include "server/testing/fake_issuer.h"

#include <cmath>
#include <httplib.h>
#include <openssl/sha.h>
#include <thread>

#include "base/clock.h"
#include "base/web/base64url.h"
#include "base/web/url.h"
#include "server/testing/http_client.h"

namespace stripline::server::oidc {
namespace {

constexpr const char* kDeviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

std::string challenge_of(const std::string& verifier) {
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(verifier.data()), verifier.size(), hash);
  return web::to_base64url({reinterpret_cast<const char*>(hash), sizeof hash});
}

void answer(httplib::Response& response, int status, const Json& json) {
  response.status = status;
  response.set_content(json.dump(), "application/json");
}

void refuse(httplib::Response& response, const char* why) {
  answer(response, 400, {{"error", why}});
}

}  // namespace

FakeIssuer::FakeIssuer()
    : signer_(Signer::elliptic()), server_(std::make_unique<httplib::Server>()) {
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

void FakeIssuer::end_sign_ins() {
  const std::lock_guard lock(mutex_);
  refresh_token_.clear();
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
  httplib::Client browser = server::http_client(url());
  const auto answer = browser.Get(authorization_url.substr(url().size()));
  return answer ? answer->get_header_value("Location") : "";
}

std::vector<std::string> FakeIssuer::secrets() const {
  const std::lock_guard lock(mutex_);
  return secrets_;
}

Json FakeIssuer::discovery() const {
  Json said = {{"issuer", url()},
               {"authorization_endpoint", url() + "/authorize"},
               {"device_authorization_endpoint", url() + "/device"},
               {"token_endpoint", url() + "/token"},
               {"jwks_uri", url() + "/keys"}};
  said.merge_patch(more_discovery_);
  return said;
}

std::string FakeIssuer::new_secret(const std::string& kind) {
  secrets_.push_back("secret-" + kind + "-" + std::to_string(secrets_.size()));
  return secrets_.back();
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

Json FakeIssuer::signed_in(const std::string& nonce) {
  const std::string token = id_token(nonce);
  const std::lock_guard lock(mutex_);
  secrets_.push_back(token);
  Json said = {{"id_token", token}, {"token_type", "Bearer"}};
  if (gives_refresh_tokens_) {
    refresh_token_ = new_secret("refresh");
    said["refresh_token"] = refresh_token_;
  }
  return said;
}

bool FakeIssuer::is_client(const httplib::Request& request) const {
  if (client_secret.empty()) return request.get_param_value("client_id") == client_id;
  const auto header = httplib::make_basic_authentication_header(
      web::percent_encoded(client_id), web::percent_encoded(client_secret), false);
  return request.get_header_value("Authorization") == header.second;
}

void FakeIssuer::answer_code(const httplib::Request& request, httplib::Response& response) {
  Code code;
  {
    const std::lock_guard lock(mutex_);
    const auto found = codes_.find(request.get_param_value("code"));
    if (found == codes_.end()) return refuse(response, "invalid_grant");
    code = found->second;
    found->second.challenge.clear();  // once
  }
  if (request.get_param_value("redirect_uri") != code.redirect_uri ||
      challenge_of(request.get_param_value("code_verifier")) != code.challenge) {
    return refuse(response, "invalid_grant");
  }
  answer(response, 200, signed_in(code.nonce));
}

void FakeIssuer::answer_device(const httplib::Request& request, httplib::Response& response) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = devices_.find(request.get_param_value("device_code"));
    if (found == devices_.end()) return refuse(response, "invalid_grant");
    // The person needs a moment.
    if (found->second++ == 0) return refuse(response, "authorization_pending");
    devices_.erase(found);
  }
  answer(response, 200, signed_in(""));
}

void FakeIssuer::answer_refresh(const httplib::Request& request, httplib::Response& response) {
  {
    const std::lock_guard lock(mutex_);
    const bool counts =
        !refresh_token_.empty() && request.get_param_value("refresh_token") == refresh_token_;
    // One that is shown a second time was stolen: no one knows from whom.
    refresh_token_.clear();
    if (!counts) return refuse(response, "invalid_grant");
  }
  ++renewals;
  answer(response, 200, signed_in(""));
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
    const std::string code = new_secret("code");
    codes_[code] = {request.get_param_value("redirect_uri"),
                    request.get_param_value("code_challenge"), request.get_param_value("nonce")};
    response.set_redirect(codes_[code].redirect_uri + "?code=" + code +
                          "&state=" + request.get_param_value("state"));
  });
  server_->Post("/device", [this](const httplib::Request& request, httplib::Response& response) {
    if (request.get_param_value("client_id") != client_id)
      return refuse(response, "invalid_client");
    const std::lock_guard lock(mutex_);
    const std::string code = new_secret("device");
    devices_[code] = 0;
    answer(response, 200,
           {{"device_code", code},
            {"user_code", "ABCD-EFGH"},
            {"verification_uri", url() + "/activate"},
            {"interval", 0.05},
            {"expires_in", 600}});
  });
  server_->Post("/token", [this](const httplib::Request& request, httplib::Response& response) {
    ++tokens_asked;
    if (!is_client(request)) return refuse(response, "invalid_client");
    const std::string grant = request.get_param_value("grant_type");
    if (grant == "authorization_code") return answer_code(request, response);
    if (grant == kDeviceGrant) return answer_device(request, response);
    if (grant == "refresh_token") return answer_refresh(request, response);
    refuse(response, "unsupported_grant_type");
  });
}

}  // namespace stripline::server::oidc
