// An issuer's key in tests: signs JSON web tokens, and publishes itself.
#pragma once

#include <memory>
#include <string>

#include "base/json.h"

struct evp_pkey_st;

namespace stripline::server::oidc {

class Signer {
 public:
  static Signer rsa(unsigned bits = 2048);
  /// "P-256", "P-384".
  static Signer elliptic(const char* curve = "P-256");

  /// The public half as a JSON web key.
  Json jwk(const std::string& id) const;
  /// The signature of `text` in the form of a token, by "RS256", "PS256" or "ES256".
  std::string sign(const std::string& algorithm, const std::string& text) const;
  /// header.claims.signature; the header's "alg" says how it is signed.
  std::string token(const Json& header, const Json& claims) const;
  /// The same with parts as they are.
  std::string token_of(const std::string& algorithm, const std::string& header,
                       const std::string& claims) const;

 private:
  explicit Signer(evp_pkey_st* key);
  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace stripline::server::oidc
