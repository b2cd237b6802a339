#include "server/process/monitoring.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "server/clock.h"
#include "server/doors/http/web_server.h"

namespace stripline::server {
namespace {

constexpr const char* kPlain = "text/plain; charset=utf-8";
// Prometheus' text format.
constexpr const char* kFigures = "text/plain; version=0.0.4; charset=utf-8";

// How old figures may be.
constexpr double kFiguresAge_s = 1;

// Figures take as long as the database that they are read from: by one caller at a time, while the
// others get the last ones, so that a thread is left to say that the server lives.
class Figures {
 public:
  explicit Figures(std::function<std::string()> make) : make_(std::move(make)) {}

  // nullopt: there are none yet.
  std::optional<std::string> text() {
    const std::unique_lock making(making_mutex_, std::try_to_lock);
    {
      const std::lock_guard lock(mutex_);
      if (!making.owns_lock() || (last_ && steady_seconds() - made_s_ < kFiguresAge_s)) {
        return last_;
      }
    }
    std::string made = make_();
    const std::lock_guard lock(mutex_);
    made_s_ = steady_seconds();
    last_ = std::move(made);
    return last_;
  }

 private:
  const std::function<std::string()> make_;
  std::mutex making_mutex_;
  std::mutex mutex_;
  std::optional<std::string> last_;
  double made_s_ = 0;
};

// Nothing is brought here, and few come.
http::Bounds bounds() {
  http::Bounds bounds;
  bounds.body_bytes = 0;
  bounds.connections = 128;
  bounds.connections_of_address = 32;
  bounds.answers_bytes = size_t{16} << 20;
  bounds.answers_bytes_of_payer = size_t{4} << 20;
  return bounds;
}

http::Response plain(int status, std::string text) {
  http::Response response;
  response.status = status;
  response.type = kPlain;
  response.body = std::move(text);
  return response;
}

http::Response answer(Figures& figures, const Monitoring::Answers& answers,
                      const http::Request& request) {
  if (request.post) return plain(http::kWrongMethod, "figures are read here: GET\n");
  if (request.path == "/healthz") return plain(http::kOk, "ok\n");
  if (request.path == "/metrics") {
    auto text = figures.text();
    if (!text) return plain(http::kUnavailable, "the first figures are being read; try again\n");
    auto response = plain(http::kOk, std::move(*text));
    response.type = kFigures;
    return response;
  }
  if (request.path == "/readyz") {
    const std::string why = answers.not_ready();
    return why.empty() ? plain(http::kOk, "ready\n")
                       : plain(http::kUnavailable, "not ready: " + why + "\n");
  }
  return plain(http::kNotFound, "there are /metrics, /healthz and /readyz here\n");
}

}  // namespace

class Monitoring::Impl {
 public:
  Impl(const ListenAddress& address, http::WebServer server)
      : address_(address), server_(std::move(server)) {}
  const ListenAddress& address() const { return address_; }

 private:
  ListenAddress address_;
  http::WebServer server_;
};

Result<Monitoring> Monitoring::start(const ListenAddress& listen,
                                     const std::vector<std::string>& names, Answers answers) {
  http::WebServerOptions options{listen.host, listen.port};
  options.names = names;
  options.bounds = bounds();
  options.threads = 2;
  const auto figures = std::make_shared<Figures>(answers.metrics);
  STRIPLINE_ASSIGN_OR_RETURN(
      auto server, http::WebServer::start(options, [figures, answers = std::move(answers)](
                                                       const http::Request& request,
                                                       const http::WebServer::Reply& reply) {
        reply(answer(*figures, answers, request));
      }));
  const ListenAddress address{listen.host, server.port()};
  return Monitoring(std::make_unique<Impl>(address, std::move(server)));
}

Monitoring::Monitoring(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Monitoring::Monitoring(Monitoring&&) noexcept = default;
Monitoring::~Monitoring() = default;

const ListenAddress& Monitoring::address() const { return impl_->address(); }

}  // namespace stripline::server
