#include "agent/relay.h"

#include <algorithm>
#include <cerrno>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <spdlog/spdlog.h>

namespace stripline::agent {
namespace {

constexpr size_t kBufferBytes = size_t{64} << 10;
// When no descriptor is free, connections wait for this long until one is tried again.
constexpr int kPause_ms = 100;

std::string text_of(int error) { return std::generic_category().message(error); }

void prepare(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // A peer that vanished without a word does not keep its descriptors for ever.
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

uint16_t port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Result<UniqueFd> listen_on(const HostAndPort& where) {
  const auto failed = [&](const std::string& why, ErrorCode code = ErrorCode::unavailable) {
    return Error(code, "cannot listen on " + where.text() + ": " + why);
  };
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(where.host.c_str(), where.port.c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  if (failure != 0) return failed(::gai_strerror(failure));
  UniqueFd fd(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0) {
    return failed(text_of(errno),
                  errno == EADDRINUSE ? ErrorCode::already_exists : ErrorCode::unavailable);
  }
  return fd;
}

}  // namespace

Result<Relay> Relay::open(const HostAndPort& listen, HostAndPort server) {
  STRIPLINE_ASSIGN_OR_RETURN(UniqueFd listening, listen_on(listen));
  HostAndPort address{listen.host, std::to_string(port_of(listening.get()))};
  return Relay(std::move(address), std::move(server), std::move(listening));
}

Relay::Relay(HostAndPort address, HostAndPort server, UniqueFd listening)
    : address_(std::move(address)),
      server_(std::move(server)),
      listening_(std::move(listening)),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      piece_(kBufferBytes) {}

void Relay::stop() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t put = ::write(stop_.get(), &one, sizeof one);
}

void Relay::run() {
  std::vector<pollfd> fds;
  while (true) {
    fds = {{stop_.get(), POLLIN, 0}, {full_ ? -1 : listening_.get(), POLLIN, 0}};
    for (const Pair& pair : pairs_) watch(pair, fds);
    if (::poll(fds.data(), fds.size(), full_ ? kPause_ms : -1) < 0) {
      if (errno != EINTR) return;
      continue;
    }
    if (fds[0].revents != 0) return;
    size_t place = 2;
    for (Pair& pair : pairs_) {
      if (fds[place].revents != 0 || fds[place + 1].revents != 0) advance(pair);
      place += 2;
    }
    std::erase_if(pairs_, [](const Pair& pair) {
      return pair.broken || (pair.up.write_ended && pair.down.write_ended);
    });
    accept_all();
  }
}

void Relay::accept_all() {
  full_ = false;
  while (true) {
    UniqueFd agent(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!agent) {
      full_ = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return;
    }
    prepare(agent.get());
    pairs_.emplace_back();
    pairs_.back().agent = std::move(agent);
    pairs_.back().lookup.emplace(server_);
    advance(pairs_.back());
  }
}

// Adds two entries.
void Relay::watch(const Pair& pair, std::vector<pollfd>& fds) {
  // What has nothing to wait for is left out, for its peer's end would be reported again and again.
  const auto add = [&](int fd, int events) {
    fds.push_back({events == 0 ? -1 : fd, static_cast<short>(events), 0});
  };
  const auto events = [](const Direction& from_it, const Direction& to_it) {
    const bool reads = !from_it.read_ended && from_it.bytes.size() < kBufferBytes;
    return (reads ? POLLIN : 0) | (to_it.bytes.empty() ? 0 : POLLOUT);
  };
  if (pair.lookup) {
    add(pair.lookup->event_fd(), POLLIN);
    add(pair.agent.get(), 0);
  } else if (pair.connecting) {
    add(pair.server.get(), POLLOUT);
    add(pair.agent.get(), 0);
  } else {
    add(pair.server.get(), events(pair.down, pair.up));
    add(pair.agent.get(), events(pair.up, pair.down));
  }
}

// Does what can be done without waiting.
void Relay::advance(Pair& pair) {
  if (pair.lookup) connect(pair);
  if (pair.broken || pair.lookup) return;
  if (pair.connecting) {
    pollfd done{pair.server.get(), POLLOUT, 0};
    if (::poll(&done, 1, 0) <= 0) return;
    int failure = 0;
    socklen_t size = sizeof failure;
    ::getsockopt(pair.server.get(), SOL_SOCKET, SO_ERROR, &failure, &size);
    if (failure != 0) {
      spdlog::warn("cannot reach {}: {}", server_.text(), text_of(failure));
      pair.broken = true;
      return;
    }
    pair.connecting = false;
  }
  pump(pair, pair.agent, pair.server, pair.up);
  pump(pair, pair.server, pair.agent, pair.down);
}

void Relay::connect(Pair& pair) {
  const auto found = pair.lookup->result();
  if (!found) return;
  if (!found->ok()) {
    spdlog::warn("{}", found->error().message());
    pair.broken = true;
    return;
  }
  const SocketAddress address = in_turn(**found, attempts_++).front();
  pair.lookup.reset();
  pair.server =
      UniqueFd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto* target = reinterpret_cast<const sockaddr*>(&address.storage);
  if (::connect(pair.server.get(), target, address.size) != 0 && errno != EINPROGRESS) {
    spdlog::warn("cannot reach {}: {}", server_.text(), text_of(errno));
    pair.broken = true;
    return;
  }
  prepare(pair.server.get());
}

void Relay::pump(Pair& pair, UniqueFd& from, UniqueFd& to, Direction& direction) {
  while (!pair.broken && !direction.write_ended) {
    const size_t room = kBufferBytes - std::min(kBufferBytes, direction.bytes.size());
    ssize_t got = -1;
    errno = EAGAIN;
    if (!direction.read_ended && room > 0) got = ::recv(from.get(), piece_.data(), room, 0);
    if (got > 0) direction.bytes.append(piece_.data(), static_cast<size_t>(got));
    if (got == 0) direction.read_ended = true;
    if (got < 0 && errno != EAGAIN && errno != EINTR) pair.broken = true;
    if (!direction.bytes.empty()) {
      const ssize_t sent =
          ::send(to.get(), direction.bytes.data(), direction.bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) direction.bytes.erase(0, static_cast<size_t>(sent));
      if (sent < 0 && errno != EAGAIN && errno != EINTR) pair.broken = true;
      if (!direction.bytes.empty()) return;
    }
    if (direction.read_ended && direction.bytes.empty()) {
      ::shutdown(to.get(), SHUT_WR);
      direction.write_ended = true;
    }
    if (got < 0) return;
  }
}

}  // namespace stripline::agent
