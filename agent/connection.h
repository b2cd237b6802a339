// One gRPC call over one socket, in plain text or by TLS, from looking up the host to its end. Has
// no thread of its own: the caller polls fd() and calls advance().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/credentials.h"
#include "agent/grpc_call.h"
#include "agent/server_address.h"
#include "base/subprocess.h"

namespace stripline::agent {

class Connection {
 public:
  /// `path` is the method's. Without a transport (an error) the call has ended with that. `attempt`
  /// says with which of the host's addresses to begin.
  Connection(const HostAndPort& server, const std::string& path, const Result<Transport>& transport,
             size_t attempt);

  GrpcCall& call() { return call_; }
  const GrpcCall& call() const { return call_; }
  /// True if anything has come since the last call.
  bool take_received() { return std::exchange(received_, false); }
  /// After the TLS handshake; empty else.
  std::string authority_pem() const { return tls_ ? tls_->authority_pem() : std::string(); }

  /// From which this host reaches the server, without port; empty while it does not.
  std::string local_address() const;

  /// What to poll for; -1 when there is nothing to wait for. May change with every call.
  int fd() const;
  short poll_events() const;

  /// Goes as far as it can without waiting.
  void advance();
  /// Sends what waits, if the socket is up.
  void write();

 private:
  void take_lookup();
  void connect_next(std::string why);
  void check_connect();
  void read();
  void receive(std::span<const uint8_t> bytes);
  void closed();
  std::string_view output();
  void consume(size_t bytes);

  std::optional<AddressLookup> lookup_;
  size_t attempt_;
  std::vector<SocketAddress> addresses_;
  size_t next_address_ = 0;
  UniqueFd socket_;
  bool connecting_ = false;
  bool blocked_ = false;   // the socket takes no more for now
  bool received_ = false;  // since take_received()
  bool answered_ = false;  // at least a byte has come
  std::optional<pki::TlsStream> tls_;
  GrpcCall call_;
};

}  // namespace stripline::agent
