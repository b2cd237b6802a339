// A TCP connection over loopback: the floor below everything that uses tcp. Rank 0 sends a place,
// and rank 1 answers with the word that is there.
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "suites/harness/contender.h"

namespace stripline::suites::harness {
namespace {

Error failure(const char* call) {
  return {ErrorCode::unavailable,
          std::string(call) + " failed: " + std::generic_category().message(errno)};
}

sockaddr_in loopback(in_port_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = port;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

class Sockets final : public Contender {
 public:
  static Opened open(const Place& place) {
    std::unique_ptr<Sockets> pair(new Sockets);
    in_port_t port = 0;  // in the order of the network
    if (place.rank == 1) {
      STRIPLINE_ASSIGN_OR_RETURN(port, pair->listen());
    }
    const auto* const bytes = reinterpret_cast<const std::byte*>(&port);
    const std::vector<std::byte> theirs = place.swap({bytes, bytes + sizeof port});
    if (theirs.size() != sizeof port) {
      return Error(ErrorCode::unavailable, "the peer could not open its socket");
    }
    std::memcpy(&port, theirs.data(), sizeof port);
    STRIPLINE_RETURN_IF_ERROR(place.rank == 0 ? pair->connect(port) : pair->accept());
    return std::unique_ptr<Contender>(std::move(pair));
  }
  ~Sockets() override {
    if (connection_ >= 0) ::close(connection_);
    if (listener_ >= 0) ::close(listener_);
  }
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;

  const char* family() const override { return "TCP socket"; }
  bool offers(const Row& row) const override {
    return row.operation == Operation::get && row.bytes == kWord;
  }
  std::byte* memory() override { return memory_.data(); }

  double initiate(const Row& row, Data& data) override {
    return blocking_s(row, [&](size_t i) {
      const uint64_t place = row.offset(i);
      send(&place);
      for (size_t received = 0; received < kWord;) receive(data.sink.data() + place, received);
    });
  }

  void attend(const Row& /*row*/, const Turns& turns) override {
    std::array<std::byte, kWord> asked{};
    size_t received = 0;
    while (!turns.is_over()) {
      receive(asked.data(), received);
      if (received < kWord) continue;
      received = 0;
      uint64_t place = 0;
      std::memcpy(&place, asked.data(), kWord);
      if (place > memory_.size() - kWord) stop("a request names a place outside of the memory");
      send(memory_.data() + place);
    }
  }

 private:
  static constexpr size_t kWord = sizeof(uint64_t);

  Sockets() = default;

  /// Ends this process, as the other one would wait for ever: who started both ends that one, too.
  [[noreturn]] static void stop(const std::string& why) {
    (void)std::fprintf(stderr, "TCP socket: %s\n", why.c_str());
    std::_Exit(1);
  }
  void send(const void* word) {
    if (::send(connection_, word, kWord, MSG_NOSIGNAL) == static_cast<ssize_t>(kWord)) return;
    stop(failure("send").message());
  }
  /// Takes what has come of a word of which `received` bytes are here.
  void receive(std::byte* word, size_t& received) {
    const ssize_t count = ::recv(connection_, word + received, kWord - received, MSG_DONTWAIT);
    if (count > 0) received += static_cast<size_t>(count);
    if (count == 0) stop("the other process has closed the connection");
    if (count < 0 && errno != EAGAIN && errno != EINTR) stop(failure("recv").message());
  }

  /// Returns the port that the kernel chose.
  Result<in_port_t> listen() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (listener_ < 0 || ::bind(listener_, generic, length) != 0 || ::listen(listener_, 1) != 0 ||
        ::getsockname(listener_, generic, &length) != 0) {
      return failure("listening on loopback");
    }
    return address.sin_port;
  }
  Status connect(in_port_t port) {
    connection_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(port);
    if (::connect(connection_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      return failure("connecting on loopback");
    }
    return without_delay();
  }
  Status accept() {
    connection_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection_ < 0) return failure("accept");
    return without_delay();
  }
  Status without_delay() {
    const int on = 1;
    if (::setsockopt(connection_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
      return failure("setsockopt");
    }
    return {};
  }

  int listener_ = -1;
  int connection_ = -1;
  std::vector<std::byte> memory_ = std::vector<std::byte>(kAllBytes);
};

}  // namespace

Opened open_sockets(const Place& place) { return Sockets::open(place); }

}  // namespace stripline::suites::harness
