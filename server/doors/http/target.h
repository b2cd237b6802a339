// The target of a request line, "/api/v1/nodes?page_size=10". Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace stripline::server::http {

struct Target {
  std::string path;                          ///< decoded, begins with '/'
  std::map<std::string, std::string> query;  ///< decoded; of a name that comes twice, the first
  std::string authority;                     ///< of "http://HOST/PATH": HOST; else empty
};

/// nullopt where it is neither a path nor an address of http, or cannot be decoded.
std::optional<Target> parse_target(std::string_view text);

}  // namespace stripline::server::http
