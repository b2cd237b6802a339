#include "server/server.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/service_type.h>
#include <spdlog/spdlog.h>

#include "base/pki/dev_token.h"
#include "base/pki/secret_file.h"
#include "base/pki/token.h"
#include "server/acceptor.h"
#include "server/clock.h"
#include "server/grpc_access.h"
#include "server/network_disk.h"
#include "server/services.h"
#include "server/sqlite_store.h"

namespace stripline::server {
namespace {

// Twice what a sample batch or a Hello may have; a model file is sent in chunks.
constexpr int kMaxMessageBytes = 8 << 20;
constexpr int kKeepaliveMs = 20'000;
constexpr int kKeepaliveTimeoutMs = 10'000;
// Agents may ping this often without being told to go away.
constexpr int kMinClientPingMs = 1'000;
// A connection without a client's greeting, or without a call, does not keep its descriptor.
constexpr int kHandshakeTimeoutMs = 10'000;
constexpr int kMaxIdleMs = 300'000;
// Calls at a time on one connection; others wait. A client of ours makes a few.
constexpr int kMaxConcurrentCalls = 256;
// Over all connections: what gRPC has read and the server has not taken yet. When it comes
// near, gRPC reads less.
constexpr size_t kMaxTransportBytes = size_t{256} << 20;
constexpr std::chrono::seconds kStopPatience{2};
constexpr std::chrono::hours kRenewalCheck{24};

void configure(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kMinClientPingMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kMaxIdleMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxConcurrentCalls);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  grpc::ResourceQuota quota("stripline-server");
  quota.Resize(kMaxTransportBytes);
  builder.SetResourceQuota(quota);
}

}  // namespace

class Server::Impl {
 public:
  Impl(std::unique_ptr<Store> store, std::unique_ptr<Access> access, std::string dev_token,
       const ServerOptions& options)
      : store_(std::move(store)),
        access_(std::move(access)),
        dev_token_(std::move(dev_token)),
        coordinator_(*store_, hub_, options.fitter, options.coordinator),
        agents_(make_agents_service(coordinator_, *access_)),
        campaigns_(make_campaigns_service(coordinator_, *store_, hub_, *access_)),
        models_(make_models_service(*store_, *access_)),
        fleet_(make_fleet_service(coordinator_)),
        admin_(make_admin_service(*access_, *store_)),
        address_(options.listen),
        failed_(options.failed) {}

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { stop(); }

  Status start() {
    STRIPLINE_ASSIGN_OR_RETURN(Listener listener, Listener::open(address_));
    STRIPLINE_RETURN_IF_ERROR(coordinator_.start());
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    configure(builder);
    connections_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        make_credentials(*access_));
    for (auto* service :
         {agents_.get(), campaigns_.get(), models_.get(), fleet_.get(), admin_.get()}) {
      builder.RegisterService(service);
    }
    server_ = builder.BuildAndStart();
    if (!server_) return Error(ErrorCode::internal, "gRPC could not start its server");
    address_.port = listener.port();
    if (!dev_token_.empty()) STRIPLINE_RETURN_IF_ERROR(write_dev_token());
    if (access_->authority())
      renewal_ = std::jthread([this](const std::stop_token& stop) { renew(stop); });
    acceptor_.emplace(
        std::move(listener), [this](UniqueFd fd) { serve(std::move(fd)); }, failed_);
    return {};
  }

  void stop() {
    if (stopped_) return;
    stopped_ = true;
    if (server_ && server_->GetHealthCheckService() != nullptr) {
      server_->GetHealthCheckService()->Shutdown();
    }
    acceptor_.reset();
    renewal_ = {};
    if (!dev_token_file_.empty()) {
      std::error_code ignored;
      std::filesystem::remove(dev_token_file_, ignored);
    }
    hub_.shutdown();
    coordinator_.stop();
    if (server_) {
      server_->Shutdown(std::chrono::system_clock::now() + kStopPatience);
      server_->Wait();
    }
  }

  const ListenAddress& address() const { return address_; }

 private:
  void serve(UniqueFd connection) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.fd = connection.release();
    connections_->HandleNewConnection(&parameters);
  }

  // Before anybody is let in, so that who connects has a chance to know it.
  Status write_dev_token() {
    STRIPLINE_ASSIGN_OR_RETURN(const auto path, pki::dev_token_file(std::to_string(address_.port)));
    STRIPLINE_RETURN_IF_ERROR(pki::make_private_folder(path.parent_path()));
    STRIPLINE_RETURN_IF_ERROR(pki::write_secret(path, dev_token_ + "\n"));
    dev_token_file_ = path;
    return {};
  }

  // A certificate is renewed months before it ends: looking once a day is enough.
  void renew(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, stop, kRenewalCheck, [] { return false; }) &&
           !stop.stop_requested()) {
      const auto renewed = access_->authority()->renew_server(unix_seconds());
      if (!renewed.ok())
        spdlog::error("cannot renew the certificate: {}", renewed.error().message());
      if (renewed.ok() && *renewed) spdlog::info("the server's certificate is renewed");
    }
  }

  std::unique_ptr<Store> store_;
  std::unique_ptr<Access> access_;
  std::string dev_token_;  // empty: it needs none
  std::filesystem::path dev_token_file_;
  WatchHub hub_;
  Coordinator coordinator_;
  std::unique_ptr<grpc::Service> agents_;
  std::unique_ptr<grpc::Service> campaigns_;
  std::unique_ptr<grpc::Service> models_;
  std::unique_ptr<grpc::Service> fleet_;
  std::unique_ptr<grpc::Service> admin_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections_;
  std::unique_ptr<grpc::Server> server_;
  std::optional<Acceptor> acceptor_;
  std::jthread renewal_;
  ListenAddress address_;
  std::function<void(const Error&)> failed_;
  bool stopped_ = false;
};

namespace {

struct Admission {
  Access access;
  std::string dev_token;
};

// Looked for before anything is made: who has none may not have meant this folder.
Result<std::optional<Authority>> authority_for(const ServerOptions& options) {
  if (options.protection != Protection::certificates) return std::optional<Authority>();
  STRIPLINE_ASSIGN_OR_RETURN(Authority authority,
                             Authority::open(options.data_dir, unix_seconds()));
  STRIPLINE_RETURN_IF_ERROR(authority.renew_server(unix_seconds()));
  return std::optional(std::move(authority));
}

Result<Admission> admission_for(Store& store, std::optional<Authority> authority,
                                const ServerOptions& options) {
  if (authority) {
    STRIPLINE_ASSIGN_OR_RETURN(Access access, Access::with_authority(store, std::move(*authority)));
    return Admission{std::move(access), ""};
  }
  if (options.protection == Protection::own_user) {
    STRIPLINE_ASSIGN_OR_RETURN(const pki::Token token, pki::make_token(pki::Token::Kind::dev, ""));
    return Admission{Access::with_secret(store, token.secret), token.text()};
  }
  return Admission{Access::open_to_all(store), ""};
}

}  // namespace

Result<Server> Server::start(const ServerOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(auto authority, authority_for(options));
  std::error_code failure;
  std::filesystem::create_directories(options.data_dir, failure);
  if (failure) {
    return Error(ErrorCode::unavailable, "cannot create data folder '" + options.data_dir.string() +
                                             "': " + failure.message() +
                                             "; choose another --data-dir");
  }
  if (!options.allow_network_disk) {
    STRIPLINE_RETURN_IF_ERROR(check_local_disk(options.data_dir));
  }
  STRIPLINE_ASSIGN_OR_RETURN(auto store, open_sqlite_store(options.data_dir / kDatabaseFile));
  STRIPLINE_ASSIGN_OR_RETURN(Admission admission,
                             admission_for(*store, std::move(authority), options));
  auto impl = std::make_unique<Impl>(std::move(store),
                                     std::make_unique<Access>(std::move(admission.access)),
                                     std::move(admission.dev_token), options);
  STRIPLINE_RETURN_IF_ERROR(impl->start());
  return Server(std::move(impl));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::Server(Server&&) noexcept = default;
Server::~Server() = default;

const ListenAddress& Server::address() const { return impl_->address(); }

void Server::stop() { impl_->stop(); }

}  // namespace stripline::server
