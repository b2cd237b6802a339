// Signing in and out by browser, at /login: what of it is HTTP (docs/security.md, People of an
// OpenID Connect issuer).
#pragma once

#include <mutex>
#include <string>

#include "server/doors/http/web_server.h"
#include "server/meters.h"
#include "server/security/oidc/sign_in.h"
#include "server/security/people.h"
#include "server/security/rate_limit.h"
#include "server/security/refusals.h"

namespace stripline::server {

/// Thread-safe. All that it is made of must outlive it, and the answers that the issuer still owes.
class SignInPages {
 public:
  /// Errors: internal when the system has no random numbers.
  static Result<std::unique_ptr<SignInPages>> make(People& people, Meters& meters);

  /// Whether a path is one of these pages.
  static bool has(const std::string& path);

  /// Replies at once, or when the issuer has answered.
  void answer(const http::Request& request, const http::WebServer::Reply& reply);

 private:
  SignInPages(People& people, Meters& meters, oidc::SignIn sign_in);
  http::Response begin(const http::Request& request) const;
  void finish(const http::Request& request, const http::WebServer::Reply& reply);
  http::Response opened(const std::string& id_token, const std::string& nonce,
                        const std::string& peer);
  http::Response sign_out(const http::Request& request);
  std::string redirect_uri(const http::Request& request) const;
  // `peer`: the address that asked, for the log.
  http::Response failed(int status, const std::string& peer, const std::string& why);

  People& people_;
  Refusals refusals_;
  const oidc::SignIn sign_in_;
  std::mutex mutex_;
  PeerAllowances exchanges_{Rate{.per_s = 1, .burst = 20}};  // by address
};

}  // namespace stripline::server
