// Secrets that people carry from one place to another: what a user shows to the server, and what a
// node becomes known by.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stripline::pki {

/// "stripline-KIND.AUTHORITY.SECRET". It names the authority of the server that made it, so that it
/// is shown to no other server.
struct Token {
  enum class Kind {
    user,  ///< shown with every call
    node,  ///< enrols one node, once
    dev    ///< of a server started with --dev, which has no authority: "stripline-dev.SECRET"
  };
  Kind kind = Kind::user;
  std::string authority_sha256;  ///< 64 hexadecimal digits; empty for dev
  std::string secret;            ///< 43 characters of base64url: 256 random bits

  std::string text() const;
};

/// A new one from the system's random numbers. Errors: internal.
Result<Token> make_token(Token::Kind kind, const std::string& authority_sha256);

/// Errors: invalid_argument. The message does not repeat the text, which may be a secret.
Result<Token> parse_token(std::string_view text);

/// What a server keeps of a token instead of it.
std::string secret_sha256(std::string_view secret);

}  // namespace stripline::pki
