#include "agent/connection.h"

#include <array>
#include <cerrno>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>

namespace stripline::agent {
namespace {

// Encrypted at a time: what waits longer may yet be given up.
constexpr size_t kPieceBytes = 16384;

std::string errno_text(int error) { return std::generic_category().message(error); }

// A socket that is being connected, or the reason why not.
Result<UniqueFd> start_connecting(const SocketAddress& address) {
  UniqueFd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return Error(ErrorCode::unavailable, errno_text(errno));
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // A server that vanished without a word shows as heartbeats that cannot be delivered.
  const unsigned undelivered_ms = 20'000;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &undelivered_ms, sizeof undelivered_ms);
  const auto* target = reinterpret_cast<const sockaddr*>(&address.storage);
  if (::connect(fd.get(), target, address.size) != 0 && errno != EINPROGRESS) {
    return Error(ErrorCode::unavailable, errno_text(errno));
  }
  return fd;
}

}  // namespace

Connection::Connection(const HostAndPort& server, const std::string& path,
                       const Result<Transport>& transport, size_t attempt)
    : attempt_(attempt),
      call_(server.text(), path,
            {.secure = transport.ok() && transport->tls,
             .bearer = transport.ok() ? transport->bearer : std::string()}) {
  if (!transport.ok()) {
    call_.connection_lost(transport.error().message());
    return;
  }
  if (transport->tls) {
    auto stream = pki::TlsStream::start(*transport->tls);
    if (!stream.ok()) {
      call_.connection_lost(stream.error().message());
      return;
    }
    tls_ = std::move(*stream);
  }
  lookup_.emplace(server);
}

int Connection::fd() const { return lookup_ ? lookup_->event_fd() : socket_.get(); }

std::string Connection::local_address() const {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);  // NOLINT: the sockets API
  std::array<char, NI_MAXHOST> host{};
  if (!socket_ || connecting_ || ::getsockname(socket_.get(), generic, &length) != 0 ||
      ::getnameinfo(generic, length, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return "";
  }
  return host.data();
}

short Connection::poll_events() const {
  if (lookup_) return POLLIN;
  if (connecting_) return POLLOUT;
  return blocked_ ? short{POLLIN | POLLOUT} : short{POLLIN};
}

void Connection::advance() {
  if (lookup_) take_lookup();
  if (connecting_) check_connect();
  if (socket_ && !connecting_) {
    write();
    read();
    write();  // what reading made necessary: settings, window updates
  }
}

void Connection::write() {
  if (!socket_ || connecting_) return;
  blocked_ = false;
  for (std::string_view bytes = output(); !bytes.empty(); bytes = output()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      consume(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      blocked_ = true;
      return;
    } else if (errno != EINTR) {
      // A server that hangs up has mostly said why.
      const std::string why = errno_text(errno);
      read();
      return call_.connection_lost(why);
    }
  }
}

// What goes to the socket next: what the call says, or that in TLS.
std::string_view Connection::output() {
  if (!tls_) return call_.output();
  if (tls_->output().empty()) {
    call_.consume_output(tls_->write(call_.output().substr(0, kPieceBytes)));
  }
  return tls_->output();
}

void Connection::consume(size_t bytes) {
  if (tls_) {
    tls_->consume_output(bytes);
  } else {
    call_.consume_output(bytes);
  }
}

void Connection::take_lookup() {
  auto found = lookup_->result();
  if (!found) return;
  lookup_.reset();
  if (!found->ok()) return call_.connection_lost(found->error().message());
  addresses_ = in_turn(std::move(**found), attempt_);
  connect_next("no address");
}

// Tries the addresses in turn; `why` is the failure of the one before.
void Connection::connect_next(std::string why) {
  connecting_ = false;
  while (next_address_ < addresses_.size()) {
    auto socket = start_connecting(addresses_[next_address_++]);
    if (socket.ok()) {
      socket_ = std::move(*socket);
      connecting_ = true;
      return;
    }
    why = socket.error().message();
  }
  socket_.reset();
  call_.connection_lost(why);
}

void Connection::check_connect() {
  pollfd ready{socket_.get(), POLLOUT, 0};
  if (::poll(&ready, 1, 0) <= 0) return;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return connect_next(errno_text(error));
  connecting_ = false;
}

void Connection::read() {
  std::array<uint8_t, 65536> bytes{};
  while (!call_.status()) {
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (got > 0) {
      received_ = true;
      answered_ = true;
      receive(std::span(bytes).first(static_cast<size_t>(got)));
    } else if (got == 0) {
      closed();
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      call_.connection_lost(errno_text(errno));
    }
  }
}

void Connection::receive(std::span<const uint8_t> bytes) {
  if (!tls_) return call_.receive(bytes);
  tls_->receive(bytes);
  const std::string plain = tls_->take_plain();
  call_.receive({reinterpret_cast<const uint8_t*>(plain.data()), plain.size()});
  if (tls_->failure()) {
    call_.connection_lost(tls_->failure()->message());
  } else if (tls_->ended()) {
    closed();
  }
}

// A server that serves by TLS does not answer what is not encrypted.
void Connection::closed() {
  call_.connection_lost(answered_ || tls_
                            ? "the server closed the connection"
                            : "the server closed the connection without a word; if it has "
                              "certificates, this node is to be enrolled (--enroll)");
}

}  // namespace stripline::agent
