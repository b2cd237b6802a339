#include "server/monitoring.h"

#include <utility>

#include "server/http/listening.h"

namespace stripline::server {
namespace {

constexpr const char* kPlain = "text/plain; charset=utf-8";
// Prometheus' text format.
constexpr const char* kFigures = "text/plain; version=0.0.4; charset=utf-8";
constexpr int kOk = 200;
constexpr int kServiceUnavailable = 503;
constexpr size_t kThreads = 2;

}  // namespace

class Monitoring::Impl {
 public:
  Impl(const ListenAddress& listen, Answers answers)
      : address_(listen), answers_(std::move(answers)) {
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
  ~Impl() = default;

  Status start() {
    STRIPLINE_ASSIGN_OR_RETURN(
        address_.port, listening_.start(address_.host, address_.port, kThreads, 0, "metrics"));
    return {};
  }

  const ListenAddress& address() const { return address_; }

 private:
  ListenAddress address_;
  Answers answers_;
  httplib::Server http_;
  http::Listening listening_{http_};
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
