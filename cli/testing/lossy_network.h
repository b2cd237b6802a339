// A relay to a server that loses everything from one moment on without closing a connection, as a
// network does that fails. Connections that are made later pass again.
#pragma once

#include <array>
#include <atomic>
#include <list>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

#include "base/subprocess.h"

namespace stripline::cli {

class LossyNetwork {
 public:
  /// To this port of 127.0.0.1.
  explicit LossyNetwork(int port)
      : server_port_(port), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);  // NOLINT: the sockets API
    ::bind(listener_.get(), generic, size);
    ::listen(listener_.get(), 16);
    ::getsockname(listener_.get(), generic, &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  int port() const { return port_; }
  /// What is connected now hears nothing more.
  void lose() { lost_ = true; }

 private:
  struct Pair {
    UniqueFd client;
    UniqueFd server;
  };

  static sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    return address;
  }

  // False when one side has closed.
  static bool pass(int from, int to) {
    std::array<char, 65536> bytes{};
    const ssize_t got = ::recv(from, bytes.data(), bytes.size(), 0);
    return got > 0 && ::send(to, bytes.data(), static_cast<size_t>(got), MSG_NOSIGNAL) == got;
  }

  void accept() {
    Pair pair{UniqueFd(::accept(listener_.get(), nullptr, nullptr)),
              UniqueFd(::socket(AF_INET, SOCK_STREAM, 0))};
    const sockaddr_in address = loopback(server_port_);
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);  // NOLINT
    if (::connect(pair.server.get(), generic, sizeof address) == 0) {
      pairs_.push_back(std::move(pair));
    }
  }

  void run(const std::stop_token& stop) {
    constexpr int kLookMs = 20;
    while (!stop.stop_requested()) {
      std::vector<pollfd> fds{{listener_.get(), POLLIN, 0}};
      for (const Pair& pair : pairs_) {
        fds.push_back({pair.client.get(), POLLIN, 0});
        fds.push_back({pair.server.get(), POLLIN, 0});
      }
      ::poll(fds.data(), fds.size(), kLookMs);
      if (lost_.exchange(false)) lost_pairs_.splice(lost_pairs_.end(), pairs_);
      size_t at = 1;
      for (auto pair = pairs_.begin(); pair != pairs_.end(); at += 2) {
        bool open = true;
        if (fds[at].revents != 0) open = pass(pair->client.get(), pair->server.get());
        if (open && fds[at + 1].revents != 0) open = pass(pair->server.get(), pair->client.get());
        pair = open ? std::next(pair) : pairs_.erase(pair);
      }
      if (fds[0].revents != 0) accept();
    }
  }

  int server_port_;
  UniqueFd listener_;
  int port_ = 0;
  std::atomic<bool> lost_ = false;
  std::list<Pair> pairs_;
  std::list<Pair> lost_pairs_;
  std::jthread thread_;
};

}  // namespace stripline::cli
