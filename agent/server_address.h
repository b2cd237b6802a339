// Where the server is: reading "host:port" and finding its addresses without waiting.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"

namespace stripline::agent {

struct HostAndPort {
  std::string host;
  std::string port;
  std::string text() const;  ///< as it is written, with brackets around an IPv6 address
};

/// "head:7411", "10.0.0.1:7411", "[::1]:7411". Errors: invalid_argument.
Result<HostAndPort> parse_server_address(std::string_view text);

/// An address to connect to.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

/// The order in which the attempt of this number tries the addresses of a host. Each attempt begins
/// with another one, because an address that swallows packets may take up all of an attempt's time.
std::vector<SocketAddress> in_turn(std::vector<SocketAddress> addresses, size_t attempt);

/// A name lookup that runs beside the caller: a resolver may take long, and the caller has workers
/// to look after. Abandoned by destroying it.
class AddressLookup {
 public:
  explicit AddressLookup(const HostAndPort& server);

  /// Readable once result() has something.
  int event_fd() const;
  /// nullopt while it goes on. Errors: unavailable. Never empty on success.
  std::optional<Result<std::vector<SocketAddress>>> result() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace stripline::agent
