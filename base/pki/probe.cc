#include "base/pki/probe.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>

#include "base/pki/tls_stream.h"
#include "base/subprocess.h"

namespace stripline::pki {
namespace {

using Clock = std::chrono::steady_clock;

Error cannot_reach(const HostAndPort& server, const std::string& why) {
  return {ErrorCode::unavailable, "cannot reach the server at " + server.text() + ": " + why};
}

// Waits for the events; false when the time has passed.
bool wait_until(const UniqueFd& fd, short events, Clock::time_point end) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd ready{fd.get(), events, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(left.count()) + 1);
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) return false;
  }
}

Result<UniqueFd> connect_to(const HostAndPort& server, Clock::time_point end) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(server.host.c_str(), server.port.c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  if (failure != 0) return cannot_reach(server, ::gai_strerror(failure));
  int reason = ETIMEDOUT;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    UniqueFd fd(::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fd) continue;
    if (::connect(fd.get(), at->ai_addr, at->ai_addrlen) != 0 && errno != EINPROGRESS) {
      reason = errno;
      continue;
    }
    if (!wait_until(fd, POLLOUT, end)) continue;
    socklen_t size = sizeof reason;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &reason, &size);
    if (reason == 0) return fd;
  }
  return cannot_reach(server, std::generic_category().message(reason));
}

}  // namespace

Result<std::string> fetch_authority(const HostAndPort& server, const std::string& sha256,
                                    double timeout_s) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(timeout_s));
  STRIPLINE_ASSIGN_OR_RETURN(const UniqueFd fd, connect_to(server, end));
  STRIPLINE_ASSIGN_OR_RETURN(TlsStream tls,
                             TlsStream::start({.host = server.host, .authority_sha256 = sha256}));
  std::array<uint8_t, 16384> bytes{};
  while (true) {
    while (!tls.output().empty()) {
      const ssize_t sent = ::send(fd.get(), tls.output().data(), tls.output().size(), MSG_NOSIGNAL);
      if (sent >= 0) tls.consume_output(static_cast<size_t>(sent));
      if (sent >= 0 || errno == EINTR) continue;
      if (errno != EAGAIN) return cannot_reach(server, std::generic_category().message(errno));
      if (!wait_until(fd, POLLOUT, end)) break;
    }
    if (tls.established()) return tls.authority_pem();
    if (tls.failure()) return cannot_reach(server, tls.failure()->message());
    if (!wait_until(fd, POLLIN, end)) {
      return Error(ErrorCode::deadline_exceeded,
                   "the server at " + server.text() + " did not answer in time");
    }
    const ssize_t got = ::recv(fd.get(), bytes.data(), bytes.size(), 0);
    if (got > 0) {
      tls.receive({bytes.data(), static_cast<size_t>(got)});
    } else if (got == 0) {
      return cannot_reach(server, "it closed the connection; it may serve without certificates");
    } else if (errno != EAGAIN && errno != EINTR) {
      return cannot_reach(server, std::generic_category().message(errno));
    }
  }
}

}  // namespace stripline::pki
