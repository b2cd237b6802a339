// Where the server is: finding its addresses without waiting.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <sys/socket.h>
#include <vector>

#include "base/host_and_port.h"
#include "base/result.h"
#include "base/subprocess.h"

namespace stripline::agent {

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
