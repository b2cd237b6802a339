// Tokens that an OpenID Connect issuer gives to this command: by the device flow (RFC 8628), in
// which the user signs in with any browser, and later by a refresh token.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "cli/contexts.h"

namespace stripline::cli {

/// The issuer that a server trusts, as it says (SignIn in access.proto).
struct IssuerOfServer {
  std::string url;
  std::string client_id;
  std::string scopes;
};

struct IssuedToken {
  std::string token;          ///< an ID token
  std::string refresh_token;  ///< empty: the issuer gives none
};

/// What the user does in a browser.
struct DeviceCode {
  std::string url;
  std::string code;      ///< to be entered there
  std::string complete;  ///< a URL that has the code already; empty: there is none
};

/// Waits for the user to sign in. `tell` is called once, `wait` with seconds between two questions.
/// Errors: failed_precondition when the user or the issuer refuses, the code's time is over, or the
/// token is longer than servers read; unavailable, where an issuer that is down for a moment in
/// between is asked again; data_loss for what no issuer should answer.
Result<IssuedToken> sign_in_by_device(const IssuerOfServer& issuer,
                                      const std::function<void(const DeviceCode&)>& tell,
                                      const std::function<void(double)>& wait);

/// Another token for the user of a context, which has a refresh token. Errors: as above.
Result<IssuedToken> refreshed(const Context& context);

/// When a token ends, as it says itself: the server judges. 0: it does not say.
double end_unix_s(const std::string& token);

/// The token of a context with a refresh token; where it is about to end, another one, which is
/// kept for this server, too. Of several processes one asks the issuer. Errors: those of
/// refreshed() and of the file of contexts.
Result<std::string> bearer_of(const std::string& server, Context& context);

}  // namespace stripline::cli
