#include "agent/link.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <span>
#include <sys/socket.h>
#include <system_error>
#include <utility>

#include "agent/grpc_call.h"
#include "agent/wire.h"
#include "base/subprocess.h"
#include "proto/rpc_error.h"
#include "stripline/v1/agents.pb.h"

namespace stripline::agent {
namespace {

constexpr const char* kMethod = "/stripline.v1.Agents/Session";

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

// A session from looking up the host to its end.
class Link::Connection {
 public:
  Connection(const HostAndPort& server, const Hello& hello, size_t attempt)
      : lookup_(std::in_place, server), attempt_(attempt), call_(server.text(), kMethod) {
    call_.send(to_wire(hello).SerializeAsString());
  }

  GrpcCall& call() { return call_; }

  bool take_received() { return std::exchange(received_, false); }

  int fd() const { return lookup_ ? lookup_->event_fd() : socket_.get(); }
  short poll_events() const {
    if (lookup_) return POLLIN;
    if (connecting_) return POLLOUT;
    return blocked_ ? short{POLLIN | POLLOUT} : short{POLLIN};
  }

  // Goes as far as it can without waiting.
  void advance() {
    if (lookup_) take_lookup();
    if (connecting_) check_connect();
    if (socket_ && !connecting_) {
      write();
      read();
      write();  // what reading made necessary: settings, window updates
    }
  }

  // Sends what waits, if the socket is up.
  void write() {
    if (!socket_ || connecting_) return;
    blocked_ = false;
    for (std::string_view bytes = call_.output(); !bytes.empty(); bytes = call_.output()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        call_.consume_output(static_cast<size_t>(sent));
      } else if (errno == EAGAIN) {
        blocked_ = true;
        return;
      } else if (errno != EINTR) {
        return call_.connection_lost(errno_text(errno));
      }
    }
  }

 private:
  void take_lookup() {
    auto found = lookup_->result();
    if (!found) return;
    lookup_.reset();
    if (!found->ok()) return call_.connection_lost(found->error().message());
    addresses_ = in_turn(std::move(**found), attempt_);
    connect_next("no address");
  }

  // Tries the addresses in turn; `why` is the failure of the one before.
  void connect_next(std::string why) {
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

  void check_connect() {
    pollfd ready{socket_.get(), POLLOUT, 0};
    if (::poll(&ready, 1, 0) <= 0) return;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return connect_next(errno_text(error));
    connecting_ = false;
  }

  void read() {
    std::array<uint8_t, 65536> bytes{};
    while (!call_.status()) {
      const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
      if (got > 0) {
        received_ = true;
        call_.receive(std::span(bytes).first(static_cast<size_t>(got)));
      } else if (got == 0) {
        call_.connection_lost("the server closed the connection");
      } else if (errno == EAGAIN) {
        return;
      } else if (errno != EINTR) {
        call_.connection_lost(errno_text(errno));
      }
    }
  }

  std::optional<AddressLookup> lookup_;
  size_t attempt_;
  std::vector<SocketAddress> addresses_;
  size_t next_address_ = 0;
  UniqueFd socket_;
  bool connecting_ = false;
  bool received_ = false;
  bool blocked_ = false;  // the socket takes no more for now
  GrpcCall call_;
};

Link::Link(HostAndPort server) : server_(std::move(server)) {}
Link::~Link() = default;

int Link::fd() const { return connection_ ? connection_->fd() : -1; }
short Link::poll_events() const { return connection_ ? connection_->poll_events() : short{0}; }

void Link::on_ready() {
  if (connection_) pump();
}

bool Link::take_received() { return connection_ && connection_->take_received(); }

std::vector<LinkEvent> Link::take_events() { return std::exchange(events_, {}); }

void Link::open(const Hello& hello) {
  abandon();
  connection_ = std::make_unique<Connection>(server_, hello, attempts_++);
  pump();
}

void Link::send(const AgentMessage& message) {
  if (!connection_) return;
  connection_->call().send(to_wire(message).SerializeAsString());
  connection_->write();
  close_if_ended();
}

void Link::abandon() {
  connection_.reset();
  events_.clear();
}

void Link::finish() {
  if (!connection_) return;
  connection_->call().finish();
  connection_->write();
  close_if_ended();
}

void Link::pump() {
  connection_->advance();
  for (const std::string& text : connection_->call().take_messages()) {
    v1::ServerMessage wire;
    if (!wire.ParseFromString(text)) {
      connection_->call().connection_lost("the server sent what is not of this protocol");
      break;
    }
    if (auto message = from_wire(wire)) events_.emplace_back(std::move(*message));
  }
  close_if_ended();
}

void Link::close_if_ended() {
  const std::optional<GrpcStatus>& status = connection_->call().status();
  if (!status) return;
  LinkClosed closed{Error(ErrorCode::unavailable, "the server ended the session"), ""};
  if (status->code != 0) {
    RpcError error = rpc_error_from(status->code, status->message, status->details);
    closed = {std::move(error.error), std::move(error.reason)};
  }
  events_.emplace_back(std::move(closed));
  connection_.reset();
}

}  // namespace stripline::agent
