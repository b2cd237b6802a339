// Passes connections on, for nodes without a route to the server: whatever comes from an agent goes
// to the server, byte for byte, and back. TLS stays between the two ends, so that a relay sees who
// talks to whom and nothing else; the server's certificate must hold the relay's name.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <poll.h>
#include <string>
#include <vector>

#include "agent/server_address.h"
#include "base/host_and_port.h"
#include "base/result.h"
#include "base/subprocess.h"

namespace stripline::agent {

class Relay {
 public:
  /// Listens. Errors: unavailable, or already_exists when the port is taken.
  static Result<Relay> open(const HostAndPort& listen, HostAndPort server);

  /// Where it listens: the port is the real one.
  const HostAndPort& address() const { return address_; }

  /// Passes on until stop() is called.
  void run();
  /// Ends run(). Async-signal-safe, callable from any thread.
  void stop() const;

 private:
  // One direction. What was read waits in `bytes` until it can be written.
  struct Direction {
    std::string bytes;
    bool read_ended = false;
    bool write_ended = false;
  };
  struct Pair {
    UniqueFd agent;
    UniqueFd server;
    std::optional<AddressLookup> lookup;  // until it has the server's addresses
    bool connecting = true;
    bool broken = false;
    Direction up;  // to the server
    Direction down;
  };

  Relay(HostAndPort address, HostAndPort server, UniqueFd listening);
  void accept_all();
  void advance(Pair& pair);
  void connect(Pair& pair);
  void pump(Pair& pair, UniqueFd& from, UniqueFd& to, Direction& direction);
  static void watch(const Pair& pair, std::vector<pollfd>& fds);

  HostAndPort address_;
  HostAndPort server_;
  UniqueFd listening_;
  UniqueFd stop_;
  std::list<Pair> pairs_;
  std::vector<char> piece_;  // read last
  size_t attempts_ = 0;
  bool full_ = false;
};

}  // namespace stripline::agent
