// The server's port: listens, and hands each connection on. gRPC's own listener stops for ever the
// first time that accept() finds no free descriptor (1.51); this one waits until there are some,
// and refuses connections before the last descriptors are gone, which the database needs.
#pragma once

#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"
#include "server/doors/listen_address.h"

namespace stripline::server {

/// Sockets that listen on every address of the host's name, all at one port.
class Listener {
 public:
  /// Errors: already_exists when another process listens there; invalid_argument when this machine
  /// has no such address; resource_exhausted without a free descriptor; unavailable when this user
  /// may not.
  static Result<Listener> open(const ListenAddress& address);

  uint16_t port() const { return port_; }
  const std::vector<UniqueFd>& sockets() const { return sockets_; }

 private:
  std::vector<UniqueFd> sockets_;
  uint16_t port_ = 0;
};

/// Accepts connections on a thread of its own.
class Acceptor {
 public:
  /// Takes over a connected socket that does not block.
  using Serve = std::function<void(UniqueFd)>;
  /// The port is lost: no connection will be accepted any more.
  using Failed = std::function<void(const Error&)>;

  /// Begins at once; both functions are called on the acceptor's thread.
  Acceptor(Listener listener, Serve serve, Failed failed);
  /// Stops accepting. Connections that were handed on stay.
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

 private:
  void run();
  bool accept_all(int listening);
  void pause();

  Listener listener_;
  Serve serve_;
  Failed failed_;
  UniqueFd stop_;
  bool full_ = false;  // it has been said that connections are refused
  std::thread thread_;
};

}  // namespace stripline::server
