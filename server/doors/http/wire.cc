#include "server/doors/http/wire.h"

#include <poll.h>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace stripline::server::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// What a mapped address of IPv4 is written as: "192.0.2.1", not "::ffff:192.0.2.1".
std::string text_of(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

template <typename Stream>
class StreamWire final : public Wire {
 public:
  template <typename... More>
  StreamWire(asio::ip::tcp::socket socket, std::string peer, More&... more)
      : stream_(std::move(socket), more...), peer_(std::move(peer)) {}

  void greet(Done done) override {
    if constexpr (kPlain) {
      done(true);
    } else {
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [done = std::move(done)](error_code error) { done(!error); });
    }
  }

  void read(std::span<char> into, Read read) override {
    stream_.async_read_some(
        asio::buffer(into.data(), into.size()),
        [read = std::move(read)](error_code error, size_t bytes) { read(error ? 0 : bytes); });
  }

  void write(std::string_view bytes, Done done) override {
    asio::async_write(
        stream_, asio::buffer(bytes.data(), bytes.size()),
        [done = std::move(done)](error_code error, size_t /*bytes*/) { done(!error); });
  }

  void end_writing() override {
    error_code ignored;
    stream_.lowest_layer().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  }

  void close() override {
    error_code ignored;
    stream_.lowest_layer().close(ignored);
  }

  bool hung_up() override {
    pollfd look{stream_.lowest_layer().native_handle(), POLLRDHUP, 0};
    return ::poll(&look, 1, 0) > 0;
  }

  const std::string& peer() const override { return peer_; }

 private:
  static constexpr bool kPlain = std::is_same_v<Stream, asio::ip::tcp::socket>;
  Stream stream_;
  std::string peer_;
};

}  // namespace

std::unique_ptr<Wire> make_wire(asio::io_context& context, asio::ssl::context* tls,
                                UniqueFd socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);  // NOLINT: the sockets API
  if (::getsockname(socket.get(), generic, &length) != 0) return nullptr;
  const auto protocol = generic->sa_family == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4();
  asio::ip::tcp::socket owned(context);
  error_code error;
  owned.assign(protocol, socket.get(), error);
  if (error) return nullptr;
  (void)socket.release();
  const auto peer = owned.remote_endpoint(error);
  if (error) return nullptr;
  std::string text = text_of(peer.address());
  if (tls == nullptr) {
    return std::make_unique<StreamWire<asio::ip::tcp::socket>>(std::move(owned), std::move(text));
  }
  return std::make_unique<StreamWire<asio::ssl::stream<asio::ip::tcp::socket>>>(
      std::move(owned), std::move(text), *tls);
}

}  // namespace stripline::server::http
