#include "server/monitoring.h"

#include <cerrno>
#include <chrono>
#include <httplib.h>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <utility>

namespace stripline::server {
namespace {

constexpr const char* kPlain = "text/plain; charset=utf-8";
// Prometheus' text format.
constexpr const char* kFigures = "text/plain; version=0.0.4; charset=utf-8";
constexpr int kOk = 200;
constexpr int kServiceUnavailable = 503;
constexpr size_t kThreads = 2;
constexpr time_t kPatience_s = 5;
constexpr std::chrono::milliseconds kStartLook{1};

Error cannot_listen(const ListenAddress& address, int reason) {
  const std::string what =
      "cannot serve metrics on " + address.text() + ": " + std::generic_category().message(reason);
  switch (reason) {
    case EADDRINUSE:
      return {ErrorCode::already_exists, what + "; choose another port"};
    case EADDRNOTAVAIL:
      return {ErrorCode::invalid_argument, what + "; name an address of this machine"};
    default:
      return {ErrorCode::unavailable, what + "; choose an address that this user may use"};
  }
}

}  // namespace

class Monitoring::Impl {
 public:
  Impl(const ListenAddress& listen, Answers answers)
      : address_(listen), answers_(std::move(answers)) {
    // The library's own choice lets two servers have one port.
    http_.set_socket_options([](int socket) {
      const int on = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the library takes it
    http_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    http_.set_read_timeout(kPatience_s);
    http_.set_write_timeout(kPatience_s);
    http_.set_keep_alive_timeout(kPatience_s);
    http_.set_payload_max_length(0);
    http_.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(answers_.metrics(), kFigures);
    });
    http_.Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("ok\n", kPlain);
    });
    http_.Get("/readyz", [this](const httplib::Request&, httplib::Response& response) {
      const std::string why = answers_.not_ready();
      response.status = why.empty() ? kOk : kServiceUnavailable;
      response.set_content((why.empty() ? "ready" : "not ready: " + why) + "\n", kPlain);
    });
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    http_.stop();
    if (thread_.joinable()) thread_.join();
  }

  Status start() {
    errno = 0;
    const int port = address_.port == 0 ? http_.bind_to_any_port(address_.host)
                     : http_.bind_to_port(address_.host, address_.port) ? address_.port
                                                                        : -1;
    if (port <= 0) return cannot_listen(address_, errno);
    address_.port = static_cast<uint16_t>(port);
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    // What is stopped before it runs would run for ever.
    while (!http_.is_running()) std::this_thread::sleep_for(kStartLook);
    return {};
  }

  const ListenAddress& address() const { return address_; }

 private:
  ListenAddress address_;
  Answers answers_;
  httplib::Server http_;
  std::thread thread_;
};

Result<Monitoring> Monitoring::start(const ListenAddress& listen, Answers answers) {
  auto impl = std::make_unique<Impl>(listen, std::move(answers));
  STRIPLINE_RETURN_IF_ERROR(impl->start());
  return Monitoring(std::move(impl));
}

Monitoring::Monitoring(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Monitoring::Monitoring(Monitoring&&) noexcept = default;
Monitoring::~Monitoring() = default;

const ListenAddress& Monitoring::address() const { return impl_->address(); }

}  // namespace stripline::server
