#include "base/host_and_port.h"

#include <cstdint>
#include <utility>

#include "base/cut_text.h"
#include "base/number_text.h"

namespace stripline {

std::string HostAndPort::text() const {
  const bool bare_ipv6 = host.find(':') != std::string::npos;
  return (bare_ipv6 ? "[" + host + "]" : host) + ":" + port;
}

Result<HostAndPort> parse_host_and_port(std::string_view text) {
  const size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon == std::string_view::npos ? 0 : colon);
  const std::string_view port = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    host = "";  // an IPv6 address needs its brackets
  }
  if (!host.empty() && number_from_text<uint16_t>(port).value_or(0) > 0) {
    return HostAndPort{std::string(host), std::string(port)};
  }
  constexpr const char* kExamples = "; write HOST:PORT, e.g. head:7411 or [::1]:7411";
  if (text.empty()) {
    return Error(ErrorCode::invalid_argument,
                 std::string("the address of the server is empty") + kExamples);
  }
  return Error(
      ErrorCode::invalid_argument,
      quoted_text(text) +
          (colon == std::string_view::npos ? " names no port" : " is not the address of a server") +
          kExamples);
}

Result<std::vector<HostAndPort>> parse_servers(std::string_view text) {
  std::vector<HostAndPort> servers;
  while (true) {
    const size_t comma = text.find(',');
    STRIPLINE_ASSIGN_OR_RETURN(HostAndPort server, parse_host_and_port(text.substr(0, comma)));
    servers.push_back(std::move(server));
    if (comma == std::string_view::npos) return servers;
    text.remove_prefix(comma + 1);
  }
}

std::string text_of(const std::vector<HostAndPort>& servers) {
  std::string text;
  for (const HostAndPort& server : servers) text += (text.empty() ? "" : ",") + server.text();
  return text;
}

}  // namespace stripline
