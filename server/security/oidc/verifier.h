// Whether a JSON web token is the issuer's, for this server, and valid now. Pure: the keys and the
// time are given. The cost is that of at most one verification of a signature.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/security/oidc/claims.h"
#include "server/security/oidc/key_set.h"

namespace stripline::server::oidc {

/// What a token must say.
struct Expected {
  std::string issuer;
  /// One of them is among its audience; empty ones count for nothing.
  std::vector<std::string> client_ids;
  ClaimNames names = {};
  double leeway_s = 60;  ///< by which clocks may differ
};

/// Someone whom the issuer vouches for.
struct Person {
  std::string name;  ///< Claims::name
  std::vector<std::string> groups;
  bool has_groups = false;           ///< Claims::has_groups
  double until_unix_s = 0;           ///< when the token ends
  std::optional<std::string> nonce;  ///< of a sign-in
};

/// Errors: not_found when no known key can have signed it, so that keys may have to be fetched
/// again; invalid_argument for every other reason. One line, for the caller and for the log.
Result<Person> verify(std::string_view token, const KeySet& keys, const Expected& expected,
                      double now_unix_s);

}  // namespace stripline::server::oidc
