#include "server/process/server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/service_type.h>
#include <spdlog/spdlog.h>

#include "base/pki/dev_token.h"
#include "base/pki/secret_file.h"
#include "base/pki/token.h"
#include "base/whole_file.h"
#include "server/clock.h"
#include "server/core/campaigns/run_results.h"
#include "server/core/operations/server_notices.h"
#include "server/core/operations/server_status.h"
#include "server/doors/acceptor.h"
#include "server/doors/api.h"
#include "server/doors/grpc_access.h"
#include "server/doors/http/web_server.h"
#include "server/doors/long_streams.h"
#include "server/doors/reading_pool.h"
#include "server/doors/services.h"
#include "server/doors/sign_in_pages.h"
#include "server/process/http_names.h"
#include "server/process/monitoring.h"
#include "server/security/call_limits.h"
#include "server/security/refusals.h"
#include "server/store/data_folder.h"
#include "server/store/network_disk.h"
#include "server/store/postgres_store.h"
#include "server/store/sqlite_store.h"

namespace stripline::server {
namespace {

// Twice what a sample batch or a Hello may have; a model file is sent in chunks.
constexpr int kMaxMessageBytes = 8 << 20;
constexpr int kKeepaliveMs = 20'000;
constexpr int kKeepaliveTimeoutMs = 10'000;
// Agents may ping this often without being disconnected.
constexpr int kMinClientPingMs = 1'000;
// A connection without a client's greeting, or without a call, does not keep its descriptor.
constexpr int kHandshakeTimeoutMs = 10'000;
constexpr int kMaxIdleMs = 300'000;
// Calls at a time on one connection; others wait. A client of ours makes a few.
constexpr int kMaxConcurrentCalls = 256;
// Over all connections: what gRPC has read and the server has not taken yet. When it comes
// near, gRPC reads less.
constexpr size_t kMaxTransportBytes = size_t{256} << 20;
// For results of runs that are compared by their samples: 32 bytes a point.
constexpr size_t kResultsBytes = size_t{64} << 20;
constexpr std::chrono::seconds kStopPatience{2};
constexpr std::chrono::minutes kRenewalCheck{10};
constexpr std::chrono::minutes kTidyUp{1};
constexpr double kWarnEvery_s = 86400;
// The number of lines about what ends, a day: `stripline nodes` lists all.
constexpr size_t kMaxWarnings = 20;
// How soon it is noticed that the store fails, or that a stream's reader has lost his rights.
constexpr std::chrono::seconds kLook{1};

void configure(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kMinClientPingMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kMaxIdleMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxConcurrentCalls);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  grpc::ResourceQuota quota("stripline-server");
  quota.Resize(kMaxTransportBytes);
  builder.SetResourceQuota(quota);
}

double size_of(const std::filesystem::path& file) {
  std::error_code failure;
  const auto bytes = std::filesystem::file_size(file, failure);
  return failure ? 0 : static_cast<double>(bytes);
}

std::filesystem::path log_file(const StoreLocation& location) {
  if (!location.url.empty()) return {};
  return location.folder / (std::string(kDatabaseFile) + "-wal");
}

// The second number of statm, in pages.
double resident_bytes() {
  std::istringstream pages(first_line("/proc/self/statm"));
  double total = 0;
  double resident = 0;
  pages >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

class Server::Impl {
 public:
  Impl(std::unique_ptr<Store> store, std::unique_ptr<Access> access, std::string dev_token,
       const ServerOptions& options)
      : store_(std::move(store)),
        access_(std::move(access)),
        dev_token_(std::move(dev_token)),
        coordinator_(*store_, hub_, meters_, options.fitter, options.coordinator),
        agents_(make_agents_service(door_, meters_)),
        campaigns_(make_campaigns_service(door_, hub_, streams_)),
        models_(make_models_service(door_, streams_)),
        operations_(make_operations_service(door_)),
        fleet_(make_fleet_service(door_)),
        admin_(make_admin_service(door_)),
        api_(core_, hub_, meters_, limits_, reading_),
        data_dir_(options.data_dir),
        address_(options.listen),
        monitoring_wanted_(options.monitoring),
        http_wanted_(options.http),
        http_names_(options.http_names),
        http_proxies_(options.http_proxies),
        retention_(coordinator_, *store_, options.retention),
        sentinels_(coordinator_, *store_, options.sentinels),
        tending_pause_(Sentinels::pause_s(options.sentinels)),
        failed_(options.failed),
        replaced_(options.replaced),
        log_file_(log_file(options.store.or_folder(options.data_dir))) {
    store_->observe([this](double seconds, bool stored) {
      meters_.observe(Meters::Time::commit, seconds);
      if (!stored) meters_.count(Meters::Counter::commits_failed);
    });
  }

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
        make_credentials(*access_, meters_));
    for (auto* service : {agents_.get(), campaigns_.get(), models_.get(), operations_.get(),
                          fleet_.get(), admin_.get()}) {
      builder.RegisterService(service);
    }
    server_ = builder.BuildAndStart();
    if (!server_) return Error(ErrorCode::internal, "gRPC could not start its server");
    address_.port = listener.port();
    if (!dev_token_.empty()) STRIPLINE_RETURN_IF_ERROR(write_dev_token());
    if (access_->authority()) {
      renewal_ = std::jthread(
          [this](const std::stop_token& stop) { every(kRenewalCheck, stop, [&] { renew(); }); });
    }
    store_->on_lost(replaced_);
    report_readiness();
    looking_ = std::jthread([this](const std::stop_token& stop) {
      every(kLook, stop, [&] {
        report_readiness();
        hub_.look();
      });
    });
    tidying_ = std::jthread([this](const std::stop_token& stop) {
      tidy_up(stop);
      every(kTidyUp, stop, [&] { tidy_up(stop); });
    });
    tending_ = std::jthread([this](const std::stop_token& stop) {
      every(tending_pause_, stop, [&] { tend_models(); });
    });
    if (monitoring_wanted_) {
      STRIPLINE_ASSIGN_OR_RETURN(
          Monitoring monitoring,
          Monitoring::start(*monitoring_wanted_, http_names_,
                            {[this] { return figures(); }, [this] { return not_ready(); }}));
      monitoring_.emplace(std::move(monitoring));
    }
    if (http_wanted_) STRIPLINE_RETURN_IF_ERROR(start_http());
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
    monitoring_.reset();
    acceptor_.reset();
    renewal_ = {};
    looking_ = {};
    tidying_ = {};
    tending_ = {};
    if (!dev_token_file_.empty()) {
      std::error_code ignored;
      std::filesystem::remove(dev_token_file_, ignored);
    }
    hub_.shutdown();
    reading_.stop();
    // Browsers that wait for the issuer are answered before the door is closed.
    if (auto* people = access_->people()) people->stop();
    http_.reset();
    coordinator_.stop();
    if (server_) {
      server_->Shutdown(std::chrono::system_clock::now() + kStopPatience);
      server_->Wait();
    }
  }

  const ListenAddress& address() const { return address_; }

  std::optional<ListenAddress> monitoring_address() const {
    return monitoring_ ? std::optional(monitoring_->address()) : std::nullopt;
  }

  std::optional<std::string> http_url() const {
    if (!http_) return std::nullopt;
    return (access_->authority() ? "https://" : "http://") +
           ListenAddress{http_wanted_->host, http_->port()}.text() + "/";
  }

  void drain() {
    draining_ = true;
    coordinator_.drain();
    report_readiness();
  }

  bool idle() { return coordinator_.idle(); }

  Status reload() {
    if (access_->authority()) {
      STRIPLINE_RETURN_IF_ERROR(Authority::open(data_dir_, unix_seconds()));
    }
    return access_->reload();
  }

 private:
  static void every(std::chrono::duration<double> interval, const std::stop_token& stop,
                    const std::function<void()>& act) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, stop, interval, [] { return false; }) &&
           !stop.stop_requested()) {
      act();
    }
  }

  Status start_http() {
    if (auto* people = access_->people()) {
      STRIPLINE_ASSIGN_OR_RETURN(auto pages, SignInPages::make(*people, meters_));
      api_.sign_in_by(std::move(pages));
    }
    http::WebServerOptions options{http_wanted_->host, http_wanted_->port};
    if (access_->authority()) {
      options.certificate_file = access_->authority()->server_certificate_file();
      options.key_file = access_->authority()->server_key_file();
    }
    options.names = http_names_;
    options.proxies = http_proxies_;
    STRIPLINE_ASSIGN_OR_RETURN(
        auto http, http::WebServer::start(
                       options, [this](http::Request request, const http::WebServer::Reply& reply) {
                         api_.answer(std::move(request), reply);
                       }));
    http_.emplace(std::move(http));
    return {};
  }

  // Ready is who can store what he acknowledges, and is not about to end.
  void report_readiness() {
    // A database that does not answer is waited for; whoever asks hears the last verdict meanwhile.
    const std::lock_guard probing(probing_mutex_);
    // A trial of the store may succeed before the steps that wait for it do.
    const Status stores = store_->probe();
    std::string failure = stores.ok() ? "" : stores.error().message();
    if (const auto outage = coordinator_.storage_outage(); stores.ok() && outage) {
      failure = outage->why;
    }
    storage_fails_ = !failure.empty();
    const std::string why = draining_ ? "it is draining" : failure;
    const std::optional<std::string> before = [&] {
      const std::lock_guard lock(verdict_mutex_);
      return std::exchange(not_ready_, why);
    }();
    if (before == why) return;
    if (!why.empty() && !draining_) spdlog::error("not ready: {}", why);
    if (why.empty() && before) spdlog::info("ready again");
    for (const char* service : kReadyServices) {
      server_->GetHealthCheckService()->SetServingStatus(service, why.empty());
    }
  }

  std::string not_ready() {
    const std::lock_guard lock(verdict_mutex_);
    return not_ready_.value_or("it is starting");
  }

  std::string figures() {
    coordinator_.measure();
    const std::string why = not_ready();
    meters_.set(Meters::Gauge::ready, why.empty() ? 1 : 0);
    meters_.set(Meters::Gauge::storage_failing, storage_fails_ ? 1 : 0);
    if (const auto size = store_->size(); size.ok()) {
      meters_.set(Meters::Gauge::database_bytes, static_cast<double>(size->bytes));
      meters_.set(Meters::Gauge::free_bytes, static_cast<double>(size->free_bytes));
    }
    if (!log_file_.empty()) meters_.set(Meters::Gauge::log_bytes, size_of(log_file_));
    if (const auto& authority = access_->authority()) {
      constexpr double kDay_s = 86400;
      const double now_unix_s = unix_seconds();
      if (const auto own = authority->server_certificate(); own.ok()) {
        meters_.set(Meters::Gauge::certificate_days,
                    (own->not_after_unix_s() - now_unix_s) / kDay_s);
      }
      meters_.set(Meters::Gauge::authority_days,
                  (authority->certificate().not_after_unix_s() - now_unix_s) / kDay_s);
      if (const auto ends = ends_of(*store_, *access_, now_unix_s); ends.ok()) {
        measure_ends(*ends, now_unix_s);
      }
    }
    meters_.set(Meters::Gauge::resident_bytes, resident_bytes());
    return meters_.text();
  }

  // 0 days where none is valid any more; nothing is said where there is none.
  void measure_ends(const Ends& ends, double now_unix_s) {
    constexpr double kDay_s = 86400;
    const auto last = last_admin_end_unix_s(ends.tokens, now_unix_s);
    meters_.set(Meters::Gauge::admin_token_days, last ? (*last - now_unix_s) / kDay_s : 0);
    if (ends.nodes.empty()) return;
    const auto first = std::ranges::min_element(ends.nodes, {}, &NodeCertificateEnd::end_unix_s);
    meters_.set(Meters::Gauge::node_certificate_days, (first->end_unix_s - now_unix_s) / kDay_s);
  }

  // Each once a day.
  void warn_of_ends() {
    const double now_unix_s = unix_seconds();
    if (now_unix_s - warned_unix_s_ < kWarnEvery_s && now_unix_s >= warned_unix_s_) return;
    const auto ends = ends_of(*store_, *access_, now_unix_s);
    if (!ends.ok()) return;
    warned_unix_s_ = now_unix_s;
    size_t logged = 0;
    for (const ServerNotice& notice : notices_of(*ends, now_unix_s)) {
      if (++logged > kMaxWarnings) break;
      spdlog::warn("{}", notice.message);
    }
  }

  void tidy_up(const std::stop_token& stop) {
    warn_of_ends();
    if (const Status saved = access_->save_uses(); !saved.ok()) {
      spdlog::error("cannot store when tokens were used: {}", saved.error().message());
    }
    const Status tidied = retention_.tidy(unix_seconds(), stop);
    if (!tidied.ok()) spdlog::error("cannot delete old campaigns: {}", tidied.error().message());
  }

  void tend_models() {
    if (draining_) return;
    const Status tended = sentinels_.tend(unix_seconds());
    if (!tended.ok()) spdlog::error("cannot look after models: {}", tended.error().message());
  }

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

  // A certificate is renewed months before it ends, but at once when the clock has been set back to
  // before it begins: no agent can connect meanwhile.
  void renew() const {
    const auto renewed = access_->authority()->renew_server(unix_seconds());
    if (!renewed.ok()) spdlog::error("cannot renew the certificate: {}", renewed.error().message());
    if (renewed.ok() && *renewed) spdlog::info("the server's certificate is renewed");
  }

  std::unique_ptr<Store> store_;
  std::unique_ptr<Access> access_;
  std::string dev_token_;  // empty: it needs none
  std::filesystem::path dev_token_file_;
  WatchHub hub_;
  Meters meters_;
  CallLimits limits_;
  Refusals refusals_{meters_};  // by gRPC
  RunResults results_{kResultsBytes};
  ReadingPool reading_{ReadingPool::options_for(std::thread::hardware_concurrency())};
  LongStreams streams_{limits_, reading_};
  Coordinator coordinator_;
  const Core core_{coordinator_, *store_, *access_, results_};
  const GrpcDoor door_{core_, limits_, reading_, refusals_};
  std::unique_ptr<grpc::Service> agents_;
  std::unique_ptr<grpc::Service> campaigns_;
  std::unique_ptr<grpc::Service> models_;
  std::unique_ptr<grpc::Service> operations_;
  std::unique_ptr<grpc::Service> fleet_;
  std::unique_ptr<grpc::Service> admin_;
  Api api_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections_;
  std::unique_ptr<grpc::Server> server_;
  std::optional<Acceptor> acceptor_;
  std::optional<Monitoring> monitoring_;
  std::optional<http::WebServer> http_;
  std::jthread renewal_;
  std::jthread looking_;
  std::jthread tidying_;
  std::jthread tending_;
  std::mutex probing_mutex_;
  std::mutex verdict_mutex_;
  std::optional<std::string> not_ready_;  // as it was last said; empty: it is ready
  std::atomic<bool> storage_fails_ = false;
  double warned_unix_s_ = 0;  // of what ends; of the thread that tidies up
  std::atomic<bool> draining_ = false;
  std::filesystem::path data_dir_;
  ListenAddress address_;
  std::optional<ListenAddress> monitoring_wanted_;
  std::optional<ListenAddress> http_wanted_;
  std::vector<std::string> http_names_;
  std::vector<std::string> http_proxies_;
  Retention retention_;
  Sentinels sentinels_;
  const std::chrono::duration<double> tending_pause_;
  std::function<void(const Error&)> failed_;
  std::function<void(const Error&)> replaced_;
  const std::filesystem::path log_file_;  // of the database; empty: it has none here
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

Result<std::unique_ptr<Store>> open_store(const StoreLocation& location) {
  if (!location.url.empty()) return open_postgres_store(location.url);
  return open_sqlite_store(location.folder / kDatabaseFile);
}

Result<Server> Server::start(const ServerOptions& wanted, std::unique_ptr<Store> store) {
  ServerOptions options = wanted;
  STRIPLINE_ASSIGN_OR_RETURN(auto authority, authority_for(options));
  STRIPLINE_ASSIGN_OR_RETURN(options.http_names, http_names(options, authority));
  STRIPLINE_RETURN_IF_ERROR(make_data_folder(options.data_dir));
  if (!store) {
    const StoreLocation location = options.store.or_folder(options.data_dir);
    if (location.url.empty()) {
      STRIPLINE_RETURN_IF_ERROR(make_data_folder(location.folder));
      if (!options.allow_network_disk) {
        STRIPLINE_RETURN_IF_ERROR(check_local_disk(location.folder));
      }
    }
    STRIPLINE_ASSIGN_OR_RETURN(store, open_store(location));
  }
  STRIPLINE_ASSIGN_OR_RETURN(Admission admission,
                             admission_for(*store, std::move(authority), options));
  if (options.people) {
    if (options.protection != Protection::certificates) {
      return Error(ErrorCode::invalid_argument,
                   "an issuer vouches for people only where the server has certificates");
    }
    STRIPLINE_ASSIGN_OR_RETURN(auto people, People::start(*options.people));
    admission.access.let_in(std::move(people));
  }
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

std::optional<ListenAddress> Server::monitoring_address() const {
  return impl_->monitoring_address();
}

std::optional<std::string> Server::http_url() const { return impl_->http_url(); }

void Server::drain() { impl_->drain(); }

bool Server::idle() const { return impl_->idle(); }

Status Server::reload() { return impl_->reload(); }

void Server::stop() { impl_->stop(); }

}  // namespace stripline::server
