#include "server/doors/http/web_server.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <openssl/ssl.h>
#include <set>
#include <sys/resource.h>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/address_key.h"
#include "server/doors/http/connection.h"
#include "server/doors/http/doors.h"

namespace stripline::server::http {
namespace {

namespace asio = boost::asio;
using Guard = asio::executor_work_guard<asio::io_context::executor_type>;

// What answers and streams that are about to end have, once the server is to end.
constexpr std::chrono::seconds kEndPatience{2};
// Until a connection for which there was no room is looked at again.
constexpr std::chrono::milliseconds kSeatPause{10};
// Agents are served before whoever looks at pages.
constexpr int kNice = 5;

// The files as they are at the time of each handshake.
struct CertificateFiles {
  std::string certificate;
  std::string key;
};

int use_files(SSL* connection, void* argument) {
  const auto& files = *static_cast<const CertificateFiles*>(argument);
  return SSL_use_certificate_chain_file(connection, files.certificate.c_str()) == 1 &&
                 SSL_use_PrivateKey_file(connection, files.key.c_str(), SSL_FILETYPE_PEM) == 1
             ? 1
             : 0;
}

std::vector<std::string> names_of(const WebServerOptions& options) {
  std::vector<std::string> names = options.names;
  names.push_back(options.host);
  return names;
}

std::set<std::string> address_keys(const std::vector<std::string>& addresses) {
  std::set<std::string> keys;
  for (const std::string& address : addresses) keys.insert(address_key(address));
  return keys;
}

void run_in_background(asio::io_context& context) {
  // On Linux this is this thread's alone.
  (void)::setpriority(PRIO_PROCESS, 0, kNice);
  context.run();
}

}  // namespace

class WebServer::Impl {
 public:
  Impl(const WebServerOptions& options, Handler handler)
      : options_(options),
        files_{options.certificate_file.string(), options.key_file.string()},
        tls_(asio::ssl::context::tls_server),
        shared_{.bounds = options.bounds,
                .hosts = KnownHosts(names_of(options)),
                .handler = std::move(handler),
                .context = context_,
                .workers = workers_,
                .seats = Seats(options.bounds.connections, options.bounds.connections_of_address,
                               address_keys(options.proxies)),
                .gone = [this](Seats::Id id) { leave(id); }},
        context_runs_(asio::make_work_guard(context_)),
        workers_run_(asio::make_work_guard(workers_)) {}

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  ~Impl() {
    if (!thread_.joinable()) return;
    asio::post(context_, [this] {
      doors_.close();
      shared_.ending = true;
      for_each([](Connection& connection) { connection.finish(); });
      note_emptiness();
    });
    {
      std::unique_lock lock(mutex_);
      emptied_.wait_for(lock, kEndPatience, [this] { return empty_; });
    }
    workers_run_.reset();
    workers_.stop();
    pool_.clear();
    asio::post(context_, [this] { for_each([](Connection& connection) { connection.close(); }); });
    context_runs_.reset();
    thread_.join();
    shared_.gate->close();
  }

  Status start() {
    STRIPLINE_RETURN_IF_ERROR(prepare_tls());
    STRIPLINE_ASSIGN_OR_RETURN(port_, doors_.open(options_.host, options_.port));
    doors_.begin([this](UniqueFd socket) { admit(std::move(socket)); });
    thread_ = std::thread([this] { run_in_background(context_); });
    for (size_t i = 0; i < options_.threads; ++i) {
      pool_.emplace_back([this] { run_in_background(workers_); });
    }
    return {};
  }

  uint16_t port() const { return port_; }

 private:
  bool with_tls() const { return !files_.key.empty(); }

  Status prepare_tls() {
    if (!with_tls()) return {};
    SSL_CTX* const context = tls_.native_handle();
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    // Nothing is kept of who was here, nor buffers for who says nothing.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_cert_cb(context, use_files, &files_);
    // Files that cannot be read are found at once, not at the first handshake.
    if (SSL_CTX_use_certificate_chain_file(context, files_.certificate.c_str()) == 1 &&
        SSL_CTX_use_PrivateKey_file(context, files_.key.c_str(), SSL_FILETYPE_PEM) == 1) {
      return {};
    }
    return Error(ErrorCode::data_loss, "cannot serve HTTP by TLS with '" + files_.certificate +
                                           "': it or its key cannot be read");
  }

  void admit(UniqueFd socket) {
    if (shared_.ending) return;
    auto wire = make_wire(context_, with_tls() ? &tls_ : nullptr, std::move(socket));
    if (wire) seat(std::move(wire), 0);
  }

  void seat(std::unique_ptr<Wire> wire, double waited_s) {
    const Seats::Id id = ++last_id_;
    const auto verdict = shared_.seats.admit(id, address_key(wire->peer()));
    if (verdict.closes) {
      const auto makes_room = connections_.at(*verdict.closes);
      makes_room->close();
    }
    if (!verdict.admitted) return wait_for_seat(std::move(wire), waited_s);
    const auto connection = std::make_shared<Connection>(shared_, id, std::move(wire));
    connections_.emplace(id, connection);
    connection->start();
  }

  // While the answers of all others are worked out none makes room; one of them will in a moment.
  void wait_for_seat(std::unique_ptr<Wire> wire, double waited_s) {
    if (shared_.waiting >= options_.bounds.connections) return;
    if (waited_s >= options_.bounds.request_s) return;
    ++shared_.waiting;
    const auto timer = std::make_shared<asio::steady_timer>(context_, kSeatPause);
    timer->async_wait([this, timer, wire = std::move(wire),
                       waited_s](const boost::system::error_code& /*error*/) mutable {
      --shared_.waiting;
      const double pause_s = std::chrono::duration<double>(kSeatPause).count();
      if (!shared_.ending) seat(std::move(wire), waited_s + pause_s);
    });
  }

  void leave(Seats::Id id) {
    shared_.seats.leaves(id);
    connections_.erase(id);
    if (shared_.ending) note_emptiness();
  }

  // On a copy: connections that close leave the table.
  template <typename Act>
  void for_each(const Act& act) {
    const auto all = connections_;
    for (const auto& [id, connection] : all) act(*connection);
  }

  void note_emptiness() {
    if (!connections_.empty()) return;
    const std::lock_guard lock(mutex_);
    empty_ = true;
    emptied_.notify_all();
  }

  const WebServerOptions options_;
  CertificateFiles files_;
  asio::ssl::context tls_;
  asio::io_context context_{1};
  asio::io_context workers_;
  Doors doors_{context_};
  Shared shared_;
  // Used on the thread of the io_context alone, as `shared_` is.
  std::map<Seats::Id, std::shared_ptr<Connection>> connections_;
  Seats::Id last_id_ = 0;

  std::mutex mutex_;
  std::condition_variable emptied_;
  bool empty_ = false;

  Guard context_runs_;
  Guard workers_run_;
  std::vector<std::jthread> pool_;
  std::thread thread_;
  uint16_t port_ = 0;
};

Result<WebServer> WebServer::start(const WebServerOptions& options, Handler handler) {
  auto impl = std::make_unique<Impl>(options, std::move(handler));
  STRIPLINE_RETURN_IF_ERROR(impl->start());
  return WebServer(std::move(impl));
}

WebServer::WebServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WebServer::WebServer(WebServer&&) noexcept = default;
WebServer::~WebServer() = default;

uint16_t WebServer::port() const { return impl_->port(); }

}  // namespace stripline::server::http
