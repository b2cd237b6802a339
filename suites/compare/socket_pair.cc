#include "suites/compare/socket_pair.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace stripline::suites::compare {
namespace {

constexpr size_t kMessage = 8;

Error failure(const char* call) {
  return {ErrorCode::unavailable,
          std::string(call) + " failed: " + std::generic_category().message(errno)};
}

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

Result<SocketPair> SocketPair::listen() {
  SocketPair pair;
  pair.listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (pair.listener_ < 0 || ::bind(pair.listener_, generic, length) != 0 ||
      ::listen(pair.listener_, 1) != 0 || ::getsockname(pair.listener_, generic, &length) != 0) {
    return failure("listening on loopback");
  }
  pair.address_ = std::to_string(ntohs(address.sin_port));
  return pair;
}

Status SocketPair::prepare() {
  const int on = 1;
  if (::setsockopt(connection_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
    return failure("setsockopt");
  }
  return {};
}

Status SocketPair::connect(const std::string& peer) {
  uint16_t port = 0;
  if (std::from_chars(peer.data(), peer.data() + peer.size(), port).ec != std::errc()) {
    return Error(ErrorCode::unavailable, "the peer could not open its socket");
  }
  connection_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(port);
  if (::connect(connection_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return failure("connecting on loopback");
  }
  return prepare();
}

Status SocketPair::accept() {
  connection_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection_ < 0) return failure("accept");
  return prepare();
}

SocketPair::SocketPair(SocketPair&& other) noexcept
    : listener_(std::exchange(other.listener_, -1)),
      connection_(std::exchange(other.connection_, -1)),
      address_(std::move(other.address_)) {}

SocketPair::~SocketPair() {
  if (connection_ >= 0) ::close(connection_);
  if (listener_ >= 0) ::close(listener_);
}

void SocketPair::ping() {
  std::array<char, kMessage> message{};
  if (::send(connection_, message.data(), kMessage, MSG_NOSIGNAL) < 0) return;
  size_t received = 0;
  while (received < kMessage) {
    const ssize_t count = ::recv(connection_, message.data(), kMessage - received, MSG_DONTWAIT);
    if (count == 0) return;
    if (count > 0) received += static_cast<size_t>(count);
  }
}

void SocketPair::answer() {
  std::array<char, 64 * kMessage> buffer;
  const ssize_t count = ::recv(connection_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count > 0) (void)::send(connection_, buffer.data(), static_cast<size_t>(count), MSG_NOSIGNAL);
}

}  // namespace stripline::suites::compare
