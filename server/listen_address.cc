#include "server/listen_address.h"

#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <system_error>

#include "base/subprocess.h"

namespace stripline::server {

std::string ListenAddress::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool ListenAddress::is_loopback() const {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
  }
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
  ListenAddress address{std::string(host), 0};
  const char* end = digits.data() + digits.size();
  const auto [parsed, error] = std::from_chars(digits.data(), end, address.port);
  if (host.empty() || digits.empty() || error != std::errc{} || parsed != end) return bad();
  return address;
}

Status check_bindable(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int code =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (code != 0) {
    return Error(ErrorCode::invalid_argument, "cannot listen on " + address.text() + ": " +
                                                  gai_strerror(code) +
                                                  "; name an address of this machine");
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  const UniqueFd fd(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  // As gRPC does it: connections of a server that ended moments ago do not stand in the way.
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd.get(), found->ai_addr, found->ai_addrlen) == 0) return {};
  const int reason = errno;
  const std::string what =
      "cannot listen on " + address.text() + ": " + std::generic_category().message(reason);
  if (reason == EADDRINUSE) {
    return Error(ErrorCode::already_exists,
                 what + ": another program, perhaps another stripline-server, has port " +
                     std::to_string(address.port) + "; stop it or choose another port");
  }
  if (reason == EADDRNOTAVAIL) {
    return Error(ErrorCode::invalid_argument, what + "; name an address of this machine");
  }
  return Error(ErrorCode::unavailable, what + "; choose a port that this user may use");
}

}  // namespace stripline::server
