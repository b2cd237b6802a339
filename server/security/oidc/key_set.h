// The keys that an issuer signs with, as it publishes them (a JSON web key set, RFC 7517), and
// their signatures. What is no key for signing here is passed over. Pure; thread-safe as values
// are.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/security/oidc/jwt.h"

struct evp_pkey_st;

namespace stripline::server::oidc {

struct SigningKey {
  enum class Kind { rsa, p256 };
  std::string id;         ///< empty: it has none
  std::string algorithm;  ///< the only one that it is for, "RS256"; empty: any of its kind
  Kind kind = Kind::rsa;
  std::shared_ptr<evp_pkey_st> key;

  bool is_for(Algorithm wanted) const;
  /// Whether this is the key's signature. False also for a signature of another form.
  bool verifies(const Jwt& jwt) const;
};

using KeySet = std::vector<SigningKey>;

/// RSA keys of 2048 to 8192 bits and keys on P-256: at most 100. Errors: data_loss when the text is
/// not a key set; not_found when it holds no key that can be used.
Result<KeySet> parse_key_set(std::string_view json);

}  // namespace stripline::server::oidc
