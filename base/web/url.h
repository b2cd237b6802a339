// Addresses of what programs fetch, such as those of an OpenID Connect issuer. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stripline::web {

struct Url {
  bool tls = true;
  std::string host;          ///< "login.example.org", "::1"
  std::string port;          ///< "443"
  std::string target = "/";  ///< path and query
  std::string authority;     ///< host and port as they are written

  bool is_loopback() const;
};

/// "https://HOST[:PORT][/PATH]"; "http://" to this machine alone: what is fetched by it decides who
/// is let in. Errors: invalid_argument.
Result<Url> parse_url(std::string_view text);

/// A text as a value of a query or a form.
std::string percent_encoded(std::string_view text);

}  // namespace stripline::web
