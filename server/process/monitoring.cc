#include "server/process/monitoring.h"

#include <utility>

#include "server/doors/http/web_server.h"

namespace stripline::server {
namespace {

constexpr const char* kPlain = "text/plain; charset=utf-8";
// Prometheus' text format.
constexpr const char* kFigures = "text/plain; version=0.0.4; charset=utf-8";

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

http::Response answer(const Monitoring::Answers& answers, const http::Request& request) {
  if (request.post) return plain(http::kWrongMethod, "figures are read here: GET\n");
  if (request.path == "/healthz") return plain(http::kOk, "ok\n");
  if (request.path == "/metrics") {
    auto response = plain(http::kOk, answers.metrics());
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
  STRIPLINE_ASSIGN_OR_RETURN(
      auto server, http::WebServer::start(options, [answers = std::move(answers)](
                                                       const http::Request& request,
                                                       const http::WebServer::Reply& reply) {
        reply(answer(answers, request));
      }));
  const ListenAddress address{listen.host, server.port()};
  return Monitoring(std::make_unique<Impl>(address, std::move(server)));
}

Monitoring::Monitoring(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Monitoring::Monitoring(Monitoring&&) noexcept = default;
Monitoring::~Monitoring() = default;

const ListenAddress& Monitoring::address() const { return impl_->address(); }

}  // namespace stripline::server
