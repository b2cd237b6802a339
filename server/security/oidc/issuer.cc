#include "server/security/oidc/issuer.h"

#include <algorithm>
#include <chrono>
#include <openssl/evp.h>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/clock.h"
#include "base/cut_text.h"
#include "base/json.h"
#include "base/pki/secret_file.h"
#include "base/printable.h"

namespace stripline::server::oidc {
namespace {

constexpr size_t kMaxWaiting = 64;
// A browser that has waited for this long shows the person nothing good any more.
constexpr double kLongestWait_s = 20;
constexpr double kRefresh_s = 3600;  // from one look at the keys of the issuer to the next
constexpr int kOk = 200;
constexpr int kServerError = 500;  // and above
constexpr size_t kLongestQuoteBytes = 200;

std::string quoted(const std::string& text) {
  return "'" + cut_text(printable_line(text), kLongestQuoteBytes) + "'";
}

std::string text_in(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool has(const Json& json, const char* name, const char* value) {
  const auto found = json.find(name);
  return found != json.end() && found->is_array() &&
         std::ranges::find(*found, value) != found->end();
}

Result<Json> object_in(const std::string& text, const char* what) {
  STRIPLINE_ASSIGN_OR_RETURN(Json json, parse_json(text, what));
  if (!json.is_object()) {
    return Error(ErrorCode::data_loss, std::string(what) + " is not a JSON object");
  }
  return json;
}

// Base64 with padding, as in the header of a basic authentication.
std::string base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

}  // namespace

Result<std::unique_ptr<Issuer>> Issuer::start(IssuerOptions options) {
  STRIPLINE_RETURN_IF_ERROR(web::parse_url(options.url));
  std::string secret;
  if (!options.client_secret_file.empty()) {
    STRIPLINE_ASSIGN_OR_RETURN(secret, pki::read_secret_line(options.client_secret_file.string()));
  }
  std::unique_ptr<Issuer> issuer(new Issuer(std::move(options), std::move(secret)));
  issuer->thread_ =
      std::jthread([self = issuer.get()](const std::stop_token& stop) { self->run(stop); });
  return issuer;
}

Issuer::Issuer(IssuerOptions options, std::string client_secret)
    : options_(std::move(options)), client_secret_(std::move(client_secret)) {}

Issuer::~Issuer() { stop(); }

void Issuer::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
  }
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  std::deque<Waiting> waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting.swap(waiting_);
  }
  for (const Waiting& one : waiting) {
    one.received(Error(ErrorCode::unavailable, "the server is stopping"));
  }
}

std::shared_ptr<const IssuerFacts> Issuer::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

std::optional<IssuerFailure> Issuer::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Issuer::look_again() {
  const std::lock_guard lock(mutex_);
  // While it does not answer, the retries are what there is.
  if (failure_) return;
  next_s_ = std::min(next_s_, fetched_s_ + options_.least_refresh_s);
  changed_.notify_all();
}

void Issuer::exchange(CodeOrder order, Received received) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_ && waiting_.size() < kMaxWaiting) {
      waiting_.push_back({std::move(order), std::move(received), steady_seconds()});
      changed_.notify_all();
      return;
    }
  }
  received(Error(ErrorCode::unavailable, "too many sign in at this moment; try again"));
}

void Issuer::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!waiting_.empty()) {
      Waiting one = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      serve(std::move(one), stop);
      lock.lock();
    } else if (steady_seconds() >= next_s_) {
      lock.unlock();
      fetch_facts(stop);
      lock.lock();
    } else {
      const double due_s = next_s_;
      changed_.wait_for(lock, stop, std::chrono::duration<double>(due_s - steady_seconds()),
                        [&] { return !waiting_.empty() || next_s_ < due_s; });
    }
  }
}

void Issuer::fetch_facts(const std::stop_token& stop) {
  auto fetched = this->fetched(stop);
  if (stop.stop_requested()) return;
  const std::lock_guard lock(mutex_);
  fetched_s_ = steady_seconds();
  if (fetched.ok()) {
    if (!facts_ || failure_) spdlog::info("people sign in by {}", options_.url);
    facts_ = std::make_shared<const IssuerFacts>(std::move(*fetched));
    failure_.reset();
    retry_s_ = 0;
    next_s_ = fetched_s_ + kRefresh_s;
    return;
  }
  retry_s_ = retry_s_ == 0 ? options_.first_retry_s : std::min(2 * retry_s_, options_.last_retry_s);
  next_s_ = fetched_s_ + retry_s_;
  const std::string why = cut_text(printable_line(fetched.error().message()), kLongestMessageBytes);
  if (!failure_ || failure_->why != why) {
    spdlog::warn("the issuer {} cannot be asked: {}; {}", options_.url, why,
                 facts_ ? "the keys that it had are used" : "no one signs in by it until it can");
  }
  failure_ = IssuerFailure{why, failure_ ? failure_->since_unix_s : unix_seconds()};
}

Result<std::string> Issuer::get(const std::string& url, const std::stop_token& stop) const {
  STRIPLINE_ASSIGN_OR_RETURN(const web::Url parsed, web::parse_url(url));
  STRIPLINE_ASSIGN_OR_RETURN(web::HttpAnswer answer, web::fetch({parsed}, limits(), stop));
  if (answer.status != kOk) {
    return Error(ErrorCode::unavailable,
                 quoted(url) + " answers " + std::to_string(answer.status) + ", not 200");
  }
  return std::move(answer.body);
}

Result<IssuerFacts> Issuer::fetched(const std::stop_token& stop) const {
  std::string at = options_.url;
  if (at.ends_with('/')) at.pop_back();
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text,
                             get(at + "/.well-known/openid-configuration", stop));
  STRIPLINE_ASSIGN_OR_RETURN(const Json about, object_in(text, "what the issuer says of itself"));
  // Without this check one issuer could speak for another.
  if (text_in(about, "issuer") != options_.url) {
    return Error(ErrorCode::data_loss, "it says that it is " + quoted(text_in(about, "issuer")) +
                                           "; --oidc-issuer must be the same text");
  }
  IssuerFacts facts;
  facts.authorization_endpoint = text_in(about, "authorization_endpoint");
  facts.token_endpoint = text_in(about, "token_endpoint");
  for (const std::string& endpoint : {facts.authorization_endpoint, facts.token_endpoint}) {
    if (!endpoint.empty()) STRIPLINE_RETURN_IF_ERROR(web::parse_url(endpoint));
  }
  constexpr const char* kMethods = "token_endpoint_auth_methods_supported";
  facts.secret_in_form = about.contains(kMethods) && !has(about, kMethods, "client_secret_basic") &&
                         has(about, kMethods, "client_secret_post");
  STRIPLINE_ASSIGN_OR_RETURN(const std::string keys, get(text_in(about, "jwks_uri"), stop));
  STRIPLINE_ASSIGN_OR_RETURN(facts.keys, parse_key_set(keys));
  return facts;
}

void Issuer::serve(Waiting waiting, const std::stop_token& stop) {
  if (steady_seconds() - waiting.since_s > kLongestWait_s) {
    return waiting.received(
        Error(ErrorCode::unavailable, "the issuer is slow, and others came before; try again"));
  }
  auto token = exchanged(waiting.order, stop);
  // A key that is new is fetched before the token is judged.
  if (token.ok()) {
    const auto jwt = parse_jwt(*token);
    const auto known = facts();
    const auto is_it = [&](const SigningKey& key) { return key.id == jwt->key_id; };
    if (jwt.ok() && known && std::ranges::none_of(known->keys, is_it)) fetch_facts(stop);
  }
  waiting.received(std::move(token));
}

Result<std::string> Issuer::exchanged(const CodeOrder& order, const std::stop_token& stop) const {
  const auto known = facts();
  if (!known || known->token_endpoint.empty()) {
    return Error(ErrorCode::unavailable, "the issuer names no place where codes become tokens");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const web::Url url, web::parse_url(known->token_endpoint));
  web::HttpRequest request{url};
  request.form = "grant_type=authorization_code&code=" + web::percent_encoded(order.code) +
                 "&redirect_uri=" + web::percent_encoded(order.redirect_uri) +
                 "&code_verifier=" + web::percent_encoded(order.verifier);
  const bool basic = !client_secret_.empty() && !known->secret_in_form;
  if (basic) {
    request.authorization = "Basic " + base64(web::percent_encoded(options_.client_id) + ":" +
                                              web::percent_encoded(client_secret_));
  } else {
    request.form += "&client_id=" + web::percent_encoded(options_.client_id);
    if (!client_secret_.empty()) {
      request.form += "&client_secret=" + web::percent_encoded(client_secret_);
    }
  }
  STRIPLINE_ASSIGN_OR_RETURN(const web::HttpAnswer answer, web::fetch(request, limits(), stop));
  // It has not judged the code.
  if (answer.status >= kServerError) {
    return Error(ErrorCode::unavailable,
                 quoted(known->token_endpoint) + " answers " + std::to_string(answer.status));
  }
  const auto said = object_in(answer.body, "the issuer's answer");
  if (answer.status != kOk) {
    const std::string why = said.ok() ? text_in(*said, "error") : "";
    return Error(ErrorCode::invalid_argument,
                 "the issuer does not take the code" + (why.empty() ? "" : ": " + quoted(why)));
  }
  if (!said.ok()) return said.error();
  const std::string token = text_in(*said, "id_token");
  if (token.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "the issuer has sent no ID token; is 'openid' among "
                 "the scopes that this client may ask for?");
  }
  return token;
}

web::HttpLimits Issuer::limits() const {
  web::HttpLimits limits;
  limits.limit_s = options_.limit_s;
  limits.authorities_file = options_.authorities_file;
  return limits;
}

}  // namespace stripline::server::oidc
