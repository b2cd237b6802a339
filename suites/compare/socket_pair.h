// A TCP connection over loopback and nothing else: the floor below everything that uses tcp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace stripline::suites::compare {

class SocketPair {
 public:
  /// Listens on a port of the kernel's choice.
  static Result<SocketPair> listen();
  /// Connects to what address() of the peer says, or accepts.
  Status connect(const std::string& peer);
  Status accept();
  SocketPair(SocketPair&& other) noexcept;
  SocketPair& operator=(SocketPair&&) = delete;
  ~SocketPair();

  /// The port, in digits.
  const std::string& address() const { return address_; }

  /// Sends eight bytes and spins until eight have come back.
  void ping();
  /// Sends back what has arrived. Does not block.
  void answer();

 private:
  SocketPair() = default;
  Status prepare();
  int listener_ = -1;
  int connection_ = -1;
  std::string address_;
};

}  // namespace stripline::suites::compare
