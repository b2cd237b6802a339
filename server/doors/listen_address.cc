#include "server/doors/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/number_text.h"

namespace stripline::server {

std::string ListenAddress::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool ListenAddress::is_loopback() const {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
  in6_addr v6{};
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return host == "localhost";
}

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto bad = [&] {
    return Error(ErrorCode::invalid_argument,
                 "'" + std::string(text) +
                     "' is not an address to listen on; write HOST:PORT, e.g. 127.0.0.1:7411");
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad();
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad();
  }
  const auto port = number_from_text<uint16_t>(digits);
  if (host.empty() || !port) return bad();
  return ListenAddress{std::string(host), *port};
}

}  // namespace stripline::server
