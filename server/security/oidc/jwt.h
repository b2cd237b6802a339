// A JSON web token in its compact form (RFC 7515, 7519): what strangers send. Parsed within bounds,
// and nothing of it believed: verifier.h does that. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stripline::server::oidc {

/// Longer ones are refused before they are looked at.
inline constexpr size_t kLongestTokenBytes = size_t{8} << 10;

/// The algorithms that are accepted. "none", and those whose key both sides hold (HS256 and its
/// kind), are not among them.
enum class Algorithm { rs256, ps256, es256 };

struct Jwt {
  Algorithm algorithm = Algorithm::rs256;
  std::string key_id;       ///< empty: it names none
  std::string claims;       ///< JSON, not read yet
  std::string signed_text;  ///< what the signature is over
  std::string signature;
};

/// Whether a bearer token may be one, as opposed to a secret of Stripline's own: it begins as JSON
/// in base64 does and has a dot, which no secret has.
bool looks_like_jwt(std::string_view text);

/// Errors: invalid_argument, with one line that repeats no part of the token but for the names of
/// its algorithm and type.
Result<Jwt> parse_jwt(std::string_view text);

}  // namespace stripline::server::oidc
