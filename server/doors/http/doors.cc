#include "server/doors/http/doors.h"

#include <chrono>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <spdlog/spdlog.h>

namespace stripline::server::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Descriptors that connections leave to the database and to gRPC.
constexpr rlim_t kReservedDescriptors = 16;
constexpr std::chrono::milliseconds kPause{100};

Error cannot_listen(const std::string& host, uint16_t port, const error_code& reason) {
  const bool six = host.find(':') != std::string::npos;
  const std::string text = "cannot serve HTTP on " + (six ? "[" + host + "]" : host) + ":" +
                           std::to_string(port) + ": " + reason.message();
  if (reason == asio::error::address_in_use) {
    return {ErrorCode::already_exists, text + "; choose another port"};
  }
  if (reason.category() == asio::error::get_netdb_category() ||
      reason == boost::system::errc::address_not_available) {
    return {ErrorCode::invalid_argument, text + "; name an address of this machine"};
  }
  return {ErrorCode::unavailable, text + "; choose an address that this user may use"};
}

void keep_from_children(int fd) { (void)::fcntl(fd, F_SETFD, FD_CLOEXEC); }

error_code listen_on(tcp::acceptor& acceptor, const tcp::endpoint& where) {
  error_code error;
  (void)acceptor.open(where.protocol(), error);
  if (error) return error;
  keep_from_children(acceptor.native_handle());
  (void)acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  (void)acceptor.set_option(tcp::no_delay(true), error);  // accepted sockets inherit it
  // Each address of a name has a socket of its own.
  if (where.protocol() == tcp::v6()) (void)acceptor.set_option(asio::ip::v6_only(true), error);
  (void)acceptor.bind(where, error);
  if (error) return error;
  (void)acceptor.listen(SOMAXCONN, error);
  return error;
}

// The kernel gives out the lowest free number, so that a high one says how many are taken.
bool is_among_the_last(int fd) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  return static_cast<rlim_t>(fd) + kReservedDescriptors >= limit.rlim_cur;
}

}  // namespace

Result<uint16_t> Doors::open(const std::string& host, uint16_t port) {
  error_code error;
  tcp::resolver resolver(context_);
  const auto found = resolver.resolve(host, "", tcp::resolver::passive, error);
  if (error) return cannot_listen(host, port, error);
  uint16_t taken = port;
  for (const auto& entry : found) {
    Door& door = doors_.emplace_back(context_);
    const error_code failed = listen_on(door.acceptor, {entry.endpoint().address(), taken});
    if (failed) {
      doors_.pop_back();
      error = failed;
      // A name may have addresses of a protocol that is switched off here.
      if (failed != boost::system::errc::address_not_available &&
          failed != boost::system::errc::address_family_not_supported) {
        return cannot_listen(host, port, failed);
      }
      continue;
    }
    taken = door.acceptor.local_endpoint(error).port();
  }
  if (doors_.empty()) return cannot_listen(host, port, error);
  return taken;
}

void Doors::begin(Serve serve) {
  serve_ = std::move(serve);
  for (Door& door : doors_) accept(door);
}

void Doors::accept(Door& door) {
  door.acceptor.async_accept([this, &door](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted || !door.acceptor.is_open()) return;
    if (error == asio::error::no_descriptors || error == asio::error::no_memory ||
        error == asio::error::no_buffer_space) {
      spdlog::error("cannot accept a connection of HTTP: {}; trying again", error.message());
      door.pause.expires_after(kPause);
      return door.pause.async_wait([this, &door](error_code stopped) {
        if (!stopped) accept(door);
      });
    }
    if (!error) {
      UniqueFd connection(socket.release(error));
      keep_from_children(connection.get());
      if (!error && !is_among_the_last(connection.get())) serve_(std::move(connection));
    }
    accept(door);
  });
}

void Doors::close() {
  error_code ignored;
  for (Door& door : doors_) {
    door.acceptor.close(ignored);
    door.pause.cancel();
  }
}

}  // namespace stripline::server::http
