// One request to a web server, such as an OpenID Connect issuer, bounded in time and size.
#pragma once

#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/web/url.h"

namespace stripline::web {

struct HttpRequest {
  Url url;
  std::string form = {};           ///< the body of a POST; empty: GET
  std::string authorization = {};  ///< a header; empty: none
};

struct HttpAnswer {
  int status = 0;
  std::string body;
};

struct HttpLimits {
  double limit_s = 10;                    ///< for all of it
  size_t body_bytes = size_t{256} << 10;  ///< a longer answer is an error
  /// PEM, of the authorities that may have signed the server's certificate; empty: those of the
  /// system.
  std::filesystem::path authorities_file = {};
};

/// Waits for the answer, whatever its status; redirections are not followed. Ends early when `stop`
/// asks for it. Errors: unavailable, with what failed.
Result<HttpAnswer> fetch(const HttpRequest& request, const HttpLimits& limits,
                         const std::stop_token& stop);

}  // namespace stripline::web
