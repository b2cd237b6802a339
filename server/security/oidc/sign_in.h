// Signing in by browser: the authorization code flow with PKCE (RFC 6749, 7636; OpenID Connect
// Core). Nothing is kept at the server for a sign-in that has begun: all that it must know again
// follows from a cookie, which binds the answer to the browser that has asked. Pure but for random
// numbers; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stripline::server::oidc {

inline constexpr const char* kSignInCookie = "__Host-stripline-sign-in";
inline constexpr const char* kSessionCookie = "__Host-stripline-session";
inline constexpr double kSignInLasts_s = 600;

/// What follows from a cookie. Only this process can work it out.
struct SignInSecrets {
  std::string state;
  std::string nonce;
  std::string verifier;   ///< PKCE's, 43 characters
  std::string challenge;  ///< its sha256, base64url
};

class SignIn {
 public:
  /// Errors: internal when the system has no random numbers.
  static Result<SignIn> make();

  /// The value of a new cookie. Errors: internal.
  Result<std::string> begin(double now_unix_s) const;
  /// nullopt: it is not a cookie of begin(), or older than kSignInLasts_s.
  std::optional<SignInSecrets> secrets_of(std::string_view cookie, double now_unix_s) const;

 private:
  explicit SignIn(std::string key) : key_(std::move(key)) {}
  std::string derived(std::string_view purpose, std::string_view from) const;
  std::string key_;
};

/// Where the browser is sent to.
struct AuthorizationRequest {
  std::string endpoint;
  std::string client_id;
  std::string redirect_uri;
  std::string scopes;  ///< "openid profile"
};
std::string authorization_url(const AuthorizationRequest& request, const SignInSecrets& secrets);

/// Whether both are the same, in a time that says nothing of where they differ.
bool same_secret(std::string_view a, std::string_view b);

/// 256 random bits as base64url. Errors: internal.
Result<std::string> random_text();

/// The value of a cookie in the header "Cookie"; empty: it is not there.
std::string cookie_in(std::string_view header, std::string_view name);
/// A header "Set-Cookie": for this host alone, by TLS, not for scripts. `lasts_s` 0: forgotten now.
std::string set_cookie(std::string_view name, std::string_view value, double lasts_s,
                       std::string_view same_site);

}  // namespace stripline::server::oidc
