#include "server/process/standby.h"

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include "server/clock.h"
#include "server/doors/acceptor.h"
#include "server/doors/api.h"
#include "server/doors/grpc_access.h"
#include "server/doors/http/web_server.h"
#include "server/doors/rpc_status.h"
#include "server/doors/services.h"
#include "server/process/http_names.h"
#include "server/process/monitoring.h"
#include "server/security/authority.h"

namespace stripline::server {
namespace {

class Refusal final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Refusal(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

// Every method of every service.
class RefusingService final : public grpc::CallbackGenericService {
 public:
  explicit RefusingService(std::function<Problem()> why) : why_(std::move(why)) {}
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* /*context*/) override {
    return new Refusal(rpc_status(why_()));  // deletes itself
  }

 private:
  std::function<Problem()> why_;
};

}  // namespace

class Standby::Impl {
 public:
  explicit Impl(const ServerOptions& options)
      : address_(options.listen), refusing_([this] { return problem(); }) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    acceptor_.reset();
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
  }

  Status start(const ServerOptions& options) {
    std::optional<Authority> authority;
    if (options.protection == Protection::certificates) {
      STRIPLINE_ASSIGN_OR_RETURN(authority, Authority::open(options.data_dir, unix_seconds()));
    }
    STRIPLINE_ASSIGN_OR_RETURN(const auto names, http_names(options, authority));
    STRIPLINE_ASSIGN_OR_RETURN(Listener listener, Listener::open(address_));
    address_.port = listener.port();
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
    connections_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        authority ? tls_credentials(*authority) : grpc::InsecureServerCredentials());
    builder.RegisterCallbackGenericService(&refusing_);
    server_ = builder.BuildAndStart();
    if (!server_) return Error(ErrorCode::internal, "gRPC could not start its server");
    // It lives, and that is all.
    for (const char* service : kReadyServices) {
      server_->GetHealthCheckService()->SetServingStatus(service, false);
    }
    if (options.monitoring) {
      meters_.set(Meters::Gauge::ready, 0);
      STRIPLINE_ASSIGN_OR_RETURN(Monitoring monitoring,
                                 Monitoring::start(*options.monitoring, names,
                                                   {[this] { return meters_.text(); },
                                                    [this] { return problem().message; }}));
      monitoring_.emplace(std::move(monitoring));
    }
    if (options.http) {
      http::WebServerOptions web{options.http->host, options.http->port};
      web.names = names;
      web.proxies = options.http_proxies;
      if (authority) {
        web.certificate_file = authority->server_certificate_file();
        web.key_file = authority->server_key_file();
      }
      STRIPLINE_ASSIGN_OR_RETURN(
          auto http, http::WebServer::start(
                         web, [this](const http::Request&, const http::WebServer::Reply& reply) {
                           reply(refused(problem()));
                         }));
      http_.emplace(std::move(http));
    }
    acceptor_.emplace(
        std::move(listener), [this](UniqueFd fd) { serve(std::move(fd)); },
        [](const Error& /*why*/) {});
    return {};
  }

  const ListenAddress& address() const { return address_; }

  void tell(const std::string& writer_address, const std::string& obstacle) {
    const std::lock_guard lock(mutex_);
    writer_address_ = writer_address;
    obstacle_ = obstacle;
  }

 private:
  Problem problem() {
    const std::lock_guard lock(mutex_);
    std::string message = "standby: ";
    if (!obstacle_.empty()) {
      message += obstacle_;
    } else if (writer_address_.empty()) {
      message += "another server serves";
    } else {
      message += "the server at " + writer_address_ + " serves";
    }
    return {ErrorCode::unavailable, "STANDBY", message, {{"server", writer_address_}}};
  }

  void serve(UniqueFd connection) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.fd = connection.release();
    connections_->HandleNewConnection(&parameters);
  }

  ListenAddress address_;
  std::mutex mutex_;
  std::string writer_address_;
  std::string obstacle_;
  Meters meters_;
  RefusingService refusing_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections_;
  std::unique_ptr<grpc::Server> server_;
  std::optional<Monitoring> monitoring_;
  std::optional<http::WebServer> http_;
  std::optional<Acceptor> acceptor_;
};

Result<Standby> Standby::start(const ServerOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  STRIPLINE_RETURN_IF_ERROR(impl->start(options));
  return Standby(std::move(impl));
}

Standby::Standby(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Standby::Standby(Standby&&) noexcept = default;
Standby::~Standby() = default;

const ListenAddress& Standby::address() const { return impl_->address(); }

void Standby::tell(const std::string& writer_address, const std::string& obstacle) {
  impl_->tell(writer_address, obstacle);
}

}  // namespace stripline::server
