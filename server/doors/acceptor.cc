#include "server/doors/acceptor.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <spdlog/spdlog.h>

namespace stripline::server {
namespace {

// Descriptors that connections leave to the database and to gRPC itself.
constexpr rlim_t kReservedDescriptors = 16;
// How long to wait for a free descriptor before accept() is tried again.
constexpr int kPauseMs = 100;

std::string text_of(int error) { return std::generic_category().message(error); }

Error cannot_listen(const ListenAddress& address, int reason) {
  const std::string what = "cannot listen on " + address.text() + ": " + text_of(reason);
  switch (reason) {
    case EADDRINUSE:
      return {ErrorCode::already_exists,
              what + ": another program, perhaps another stripline-server, has port " +
                  std::to_string(address.port) + "; stop it or choose another port"};
    case EADDRNOTAVAIL:
      return {ErrorCode::invalid_argument, what + "; name an address of this machine"};
    case EMFILE:
    case ENFILE:
      return {ErrorCode::resource_exhausted, what + "; raise 'ulimit -n'"};
    default:
      return {ErrorCode::unavailable, what + "; choose a port that this user may use"};
  }
}

// A listening socket, or the reason why there is none.
std::pair<UniqueFd, int> listen_on(const addrinfo& where, uint16_t port) {
  sockaddr_storage address{};
  std::memcpy(&address, where.ai_addr, where.ai_addrlen);
  if (where.ai_family == AF_INET) {
    reinterpret_cast<sockaddr_in&>(address).sin_port = htons(port);  // NOLINT: the sockets API
  } else {
    reinterpret_cast<sockaddr_in6&>(address).sin6_port = htons(port);  // NOLINT
  }
  UniqueFd fd(::socket(where.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return {UniqueFd(), errno};
  const int on = 1;
  // Connections of a server that ended moments ago do not block the port.
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);   // accepted sockets inherit it
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);  // NOLINT
  if (::bind(fd.get(), generic, where.ai_addrlen) != 0 || ::listen(fd.get(), SOMAXCONN) != 0) {
    return {UniqueFd(), errno};
  }
  return {std::move(fd), 0};
}

uint16_t port_of(const UniqueFd& fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);  // NOLINT: the sockets API
  if (::getsockname(fd.get(), generic, &length) != 0) return 0;
  return ntohs(address.ss_family == AF_INET
                   ? reinterpret_cast<sockaddr_in&>(address).sin_port      // NOLINT
                   : reinterpret_cast<sockaddr_in6&>(address).sin6_port);  // NOLINT
}

// A peer that has gone again, or that the network lost.
bool is_peers_fault(int error) {
  constexpr std::array kFaults{ECONNABORTED, EPERM,        EPROTO,     ENETDOWN,    ENOPROTOOPT,
                               EHOSTDOWN,    EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH, ENONET};
  return std::ranges::find(kFaults, error) != kFaults.end();
}

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

// The kernel gives out the lowest free number, so that a high one says how many are taken.
bool is_among_the_last(const UniqueFd& fd) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  return static_cast<rlim_t>(fd.get()) + kReservedDescriptors >= limit.rlim_cur;
}

}  // namespace

Result<Listener> Listener::open(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(address.host.c_str(), nullptr, &hints, &found);
  if (code != 0) {
    return Error(ErrorCode::invalid_argument, "cannot listen on " + address.text() + ": " +
                                                  gai_strerror(code) +
                                                  "; name an address of this machine");
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  Listener listener;
  listener.port_ = address.port;
  for (const addrinfo* where = found; where != nullptr; where = where->ai_next) {
    if (where->ai_family != AF_INET && where->ai_family != AF_INET6) continue;
    auto [fd, reason] = listen_on(*where, listener.port_);
    // A name may have addresses of a protocol that is switched off here.
    const bool spare = !listener.sockets_.empty() || where->ai_next != nullptr;
    if (spare && (reason == EADDRNOTAVAIL || reason == EAFNOSUPPORT)) continue;
    if (reason != 0) return cannot_listen(address, reason);
    if (listener.port_ == 0) listener.port_ = port_of(fd);
    listener.sockets_.push_back(std::move(fd));
  }
  if (listener.sockets_.empty()) return cannot_listen(address, EADDRNOTAVAIL);
  return listener;
}

Acceptor::Acceptor(Listener listener, Serve serve, Failed failed)
    : listener_(std::move(listener)),
      serve_(std::move(serve)),
      failed_(std::move(failed)),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

Acceptor::~Acceptor() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t put = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void Acceptor::run() {
  std::vector<pollfd> fds{{stop_.get(), POLLIN, 0}};
  for (const UniqueFd& socket : listener_.sockets()) fds.push_back({socket.get(), POLLIN, 0});
  while (true) {
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;  // a signal
    if (fds[0].revents != 0) return;
    for (size_t i = 1; i < fds.size(); ++i) {
      if (fds[i].revents != 0 && !accept_all(fds[i].fd)) return;
    }
  }
}

// False when the port is lost.
bool Acceptor::accept_all(int listening) {
  while (true) {
    UniqueFd fd(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd) {
      const bool refuse = is_among_the_last(fd);
      if (refuse && !full_) {
        spdlog::error(
            "connections are refused: almost all descriptors are in use; raise 'ulimit -n'");
      }
      full_ = refuse;
      if (!refuse) serve_(std::move(fd));
      continue;
    }
    const int reason = errno;
    if (reason == EAGAIN) return true;
    if (reason == EINTR || is_peers_fault(reason)) continue;
    if (is_shortage(reason)) {
      spdlog::error("cannot accept a connection: {}; trying again", text_of(reason));
      pause();
      return true;
    }
    failed_(Error(ErrorCode::unavailable, "the server's port is lost: accept: " + text_of(reason)));
    return false;
  }
}

// A connection that waits makes poll() return at once, whether or not it can be accepted.
void Acceptor::pause() {
  pollfd stop{stop_.get(), POLLIN, 0};
  ::poll(&stop, 1, kPauseMs);
}

}  // namespace stripline::server
