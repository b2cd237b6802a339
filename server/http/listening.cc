#include "server/http/listening.h"

#include <cerrno>
#include <chrono>
#include <sys/socket.h>
#include <system_error>

namespace stripline::server::http {
namespace {

constexpr time_t kPatience_s = 5;
// A connection takes a thread, also while nothing is asked on it.
constexpr time_t kIdle_s = 2;
constexpr std::chrono::milliseconds kStartLook{1};

Error cannot_listen(const std::string& host, uint16_t port, std::string_view what, int reason) {
  const bool six = host.find(':') != std::string::npos;
  const std::string text = "cannot serve " + std::string(what) + " on " +
                           (six ? "[" + host + "]" : host) + ":" + std::to_string(port) + ": " +
                           std::generic_category().message(reason);
  switch (reason) {
    case EADDRINUSE:
      return {ErrorCode::already_exists, text + "; choose another port"};
    case EADDRNOTAVAIL:
      return {ErrorCode::invalid_argument, text + "; name an address of this machine"};
    default:
      return {ErrorCode::unavailable, text + "; choose an address that this user may use"};
  }
}

}  // namespace

Result<uint16_t> Listening::start(const std::string& host, uint16_t port, size_t threads,
                                  size_t most_body_bytes, std::string_view what) {
  // The library's own choice lets two servers have one port.
  server_.set_socket_options([](int socket) {
    const int on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  });
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the library takes it
  server_.new_task_queue = [threads] { return new httplib::ThreadPool(threads); };
  server_.set_read_timeout(kPatience_s);
  server_.set_write_timeout(kPatience_s);
  server_.set_keep_alive_timeout(kIdle_s);
  server_.set_payload_max_length(most_body_bytes);
  errno = 0;
  const int taken = port == 0                          ? server_.bind_to_any_port(host)
                    : server_.bind_to_port(host, port) ? port
                                                       : -1;
  if (taken <= 0) return cannot_listen(host, port, what, errno);
  thread_ = std::thread([this] { server_.listen_after_bind(); });
  // What is stopped before it runs would run for ever.
  while (!server_.is_running()) std::this_thread::sleep_for(kStartLook);
  return static_cast<uint16_t>(taken);
}

Listening::~Listening() {
  server_.stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace stripline::server::http
