// Where a server is, as users write it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stripline {

struct HostAndPort {
  std::string host;
  std::string port;
  std::string text() const;  ///< as it is written, with brackets around an IPv6 address
};

/// "head:7411", "10.0.0.1:7411", "[::1]:7411". Errors: invalid_argument.
Result<HostAndPort> parse_host_and_port(std::string_view text);

/// "head:7411,spare:7411": a server, and those that take over when it is gone. At least one.
/// Errors: invalid_argument.
Result<std::vector<HostAndPort>> parse_servers(std::string_view text);
/// The text that parse_servers() reads.
std::string text_of(const std::vector<HostAndPort>& servers);

}  // namespace stripline
