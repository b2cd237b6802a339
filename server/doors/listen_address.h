// The address a server listens on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stripline::server {

struct ListenAddress {
  std::string host;  ///< A name or an address; IPv6 without brackets.
  uint16_t port = 0;

  /// "127.0.0.1:7411", "[::1]:7411".
  std::string text() const;
  /// Only this machine can reach it: 127.0.0.0/8, ::1 or "localhost".
  bool is_loopback() const;
};

/// Parses "HOST:PORT" or "[IPV6]:PORT"; the port may be 0. Errors: invalid_argument.
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace stripline::server
