#include "server/doors/sign_in_pages.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/cut_text.h"
#include "base/html_text.h"
#include "base/json.h"
#include "base/printable.h"
#include "server/clock.h"

namespace stripline::server {
namespace {

constexpr const char* kBegin = "/login";
constexpr const char* kFinish = "/login/callback";
constexpr const char* kAbout = "/login/about";
constexpr const char* kOut = "/login/out";
constexpr size_t kLongestCodeBytes = 4096;
constexpr const char* kLax = "Lax";        // it comes back when the issuer sends the browser here
constexpr const char* kStrict = "Strict";  // no page of elsewhere makes the browser send it

std::string value_of(const http::Request& request, const char* name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? "" : found->second;
}

http::Response sent_to(const std::string& location) {
  http::Response response;
  response.status = http::kSeeOther;
  response.type = "text/plain; charset=utf-8";
  response.location = location;
  return response;
}

http::Response json(int status, const Json& body) {
  http::Response response;
  response.status = status;
  response.body = body.dump();
  return response;
}

}  // namespace

Result<std::unique_ptr<SignInPages>> SignInPages::make(People& people, Meters& meters) {
  STRIPLINE_ASSIGN_OR_RETURN(oidc::SignIn sign_in, oidc::SignIn::make());
  return std::unique_ptr<SignInPages>(new SignInPages(people, meters, std::move(sign_in)));
}

SignInPages::SignInPages(People& people, Meters& meters, oidc::SignIn sign_in)
    : people_(people), refusals_(meters), sign_in_(std::move(sign_in)) {}

bool SignInPages::has(const std::string& path) {
  return path == kBegin || path == kFinish || path == kAbout || path == kOut;
}

void SignInPages::answer(const http::Request& request, const http::WebServer::Reply& reply) {
  if (request.path == kOut) return reply(sign_out(request));
  if (request.post)
    return reply(failed(http::kWrongMethod, request.peer, "this page is read by GET"));
  if (request.path == kAbout) {
    return reply(json(http::kOk, {{"issuer", people_.options().issuer.url}}));
  }
  if (request.path == kFinish) return finish(request, reply);
  reply(begin(request));
}

http::Response SignInPages::begin(const http::Request& request) const {
  const auto facts = people_.issuer().facts();
  const std::string back = redirect_uri(request);
  if (!facts || facts->authorization_endpoint.empty() || back.empty()) {
    http::Response response;
    response.status = http::kUnavailable;
    response.type = "text/plain; charset=utf-8";
    const auto failure = people_.issuer().failure();
    response.body = "No one can sign in by " + people_.options().issuer.url + " at present" +
                    (failure ? ": " + failure->why : "") +
                    ".\nTry again, or use a token of this server.\n";
    return response;
  }
  const double now_s = unix_seconds();
  const auto cookie = sign_in_.begin(now_s);
  if (!cookie.ok()) return http::Response{http::kInternalError};
  const auto& options = people_.options();
  http::Response response = sent_to(oidc::authorization_url(
      {facts->authorization_endpoint, options.issuer.client_id, back, options.scopes},
      *sign_in_.secrets_of(*cookie, now_s)));
  response.cookies.push_back(
      oidc::set_cookie(oidc::kSignInCookie, *cookie, oidc::kSignInLasts_s, kLax));
  return response;
}

void SignInPages::finish(const http::Request& request, const http::WebServer::Reply& reply) {
  const auto secrets =
      sign_in_.secrets_of(oidc::cookie_in(request.cookie, oidc::kSignInCookie), unix_seconds());
  const std::string state = value_of(request, "state");
  if (!secrets || !oidc::same_secret(state, secrets->state)) {
    return reply(failed(http::kBadRequest, request.peer,
                        "this answer of the issuer belongs to no sign-in that this browser has "
                        "begun in the last ten minutes"));
  }
  if (const std::string error = value_of(request, "error"); !error.empty()) {
    return reply(
        failed(http::kForbidden, request.peer, "the issuer refuses: " + quoted_text(error)));
  }
  const std::string issuer = value_of(request, "iss");
  if (!issuer.empty() && issuer != people_.options().issuer.url) {
    return reply(failed(http::kBadRequest, request.peer, "this is the answer of another issuer"));
  }
  const std::string code = value_of(request, "code");
  if (code.empty() || code.size() > kLongestCodeBytes) {
    return reply(failed(http::kBadRequest, request.peer, "the issuer has sent no code"));
  }
  {
    const std::lock_guard lock(mutex_);
    if (!exchanges_.try_take(request.peer, 1, steady_seconds())) {
      return reply(failed(http::kTooManyRequests, request.peer,
                          "too many sign in from " + request.peer + "; try again in a moment"));
    }
  }
  people_.issuer().exchange(
      {code, secrets->verifier, redirect_uri(request)},
      [this, reply, peer = request.peer, nonce = secrets->nonce](Result<std::string> id_token) {
        if (!id_token.ok()) {
          const bool is_refused = id_token.error().code() == ErrorCode::invalid_argument;
          return reply(failed(is_refused ? http::kBadRequest : http::kUnavailable, peer,
                              id_token.error().message()));
        }
        reply(opened(*id_token, nonce, peer));
      });
}

http::Response SignInPages::opened(const std::string& id_token, const std::string& nonce,
                                   const std::string& peer) {
  const double now_s = unix_seconds();
  const auto secret = people_.open_session(id_token, nonce, now_s);
  if (!secret) {
    return failed(
        secret.problem().reason == "PERMISSION_DENIED" ? http::kForbidden : http::kUnauthorised,
        peer, secret.problem().message);
  }
  const auto session = people_.by_session(*secret, now_s);
  if (!session) return failed(http::kUnauthorised, peer, session.problem().message);
  spdlog::info("users/{} signs in from {}, as {}", session->name, peer, to_string(session->role));
  // To the pages, wherever a proxy has them.
  http::Response response = sent_to("../");
  response.cookies.push_back(
      oidc::set_cookie(oidc::kSessionCookie, *secret, session->until_unix_s - now_s, kStrict));
  response.cookies.push_back(oidc::set_cookie(oidc::kSignInCookie, "", 0, kLax));
  return response;
}

http::Response SignInPages::sign_out(const http::Request& request) {
  if (!request.post) return failed(http::kWrongMethod, request.peer, "signing out is a POST");
  const std::string secret = oidc::cookie_in(request.cookie, oidc::kSessionCookie);
  if (const auto session = people_.by_session(secret, unix_seconds())) {
    spdlog::info("users/{} signs out", session->name);
    people_.close_session(secret);
  }
  http::Response response = json(http::kOk, Json::object());
  response.cookies.push_back(oidc::set_cookie(oidc::kSessionCookie, "", 0, kStrict));
  return response;
}

std::string SignInPages::redirect_uri(const http::Request& request) const {
  const std::string& set = people_.options().redirect_url;
  if (!set.empty()) return set;
  return request.host.empty() ? "" : "https://" + request.host + kFinish;
}

http::Response SignInPages::failed(int status, const std::string& peer, const std::string& why) {
  refusals_.note(kFinish, peer, why);
  http::Response response;
  response.status = status;
  response.type = "text/html; charset=utf-8";
  response.body =
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Not signed in"
      "</title><h1>Not signed in</h1><p>" +
      html_text(cut_text(printable_line(why), kLongestMessageBytes)) +
      "</p><p><a href=\"../login\">Sign in again</a>, or <a href=\"../\">use a token"
      "</a>.</p></html>\n";
  return response;
}

}  // namespace stripline::server
