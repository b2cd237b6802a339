// The server as one object: store, coordinator and gRPC services behind a port.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/core/coordinator.h"
#include "server/core/models/fit_job.h"
#include "server/core/models/sentinels.h"
#include "server/core/operations/retention.h"
#include "server/doors/listen_address.h"
#include "server/security/people.h"
#include "server/store/store.h"

namespace stripline::server {

/// What is asked of callers (docs/security.md).
enum class Protection {
  none,         ///< Everybody, in plain text.
  own_user,     ///< On this machine, whoever can read the files of the user who started it.
  certificates  ///< By TLS, with what `stripline-server init` has made in the data folder.
};

/// Where the server keeps its data: in a file of this folder, or in the database of this URL.
struct StoreLocation {
  std::filesystem::path folder = {};
  std::string url = {};  ///< "postgresql://..."; empty: the folder

  /// This, or that folder where it says nothing.
  StoreLocation or_folder(const std::filesystem::path& data_dir) const {
    return folder.empty() && url.empty() ? StoreLocation{data_dir, ""} : *this;
  }
};

/// Errors: those of open_sqlite_store() and open_postgres_store().
Result<std::unique_ptr<Store>> open_store(const StoreLocation& location);

struct ServerOptions {
  std::filesystem::path data_dir;   ///< Created if it does not exist: certificates, stripline.db.
  StoreLocation store = {};         ///< Says nothing: data_dir.
  double takeover_s = 15;           ///< PostgresOptions::lease_s
  bool allow_network_disk = false;  ///< The data folder may be on a disk that hosts share.
  ListenAddress listen;             ///< Port 0: any free one.
  Protection protection = Protection::none;
  std::optional<ListenAddress> monitoring;  ///< Where monitoring.h serves; absent: nowhere.
  std::optional<ListenAddress> http;        ///< Where api.h answers; absent: nowhere.
  /// Names under which this host is reached by HTTP, besides those that it knows of.
  std::vector<std::string> http_names = {};
  /// Addresses from which proxies bring many callers of HTTP.
  std::vector<std::string> http_proxies = {};
  /// The issuer that vouches for people, with Protection::certificates; absent: none does.
  std::optional<PeopleOptions> people = std::nullopt;
  CoordinatorOptions coordinator;
  RetentionLimits retention;
  SentinelOptions sentinels;
  Fitter fitter = fit_in_process;
  /// Called once, on a thread of the server's, should it lose its port: no one reaches it any more.
  std::function<void(const Error&)> failed = [](const Error& /*why*/) {};
  /// Called once, on any thread, should another server have taken the database over: stop this one,
  /// and start again when it is its turn again.
  std::function<void(const Error&)> replaced = [](const Error& /*why*/) {};
};

class Server {
 public:
  /// Opens the database, unless `store` is given, takes up unfinished campaigns and serves. Errors:
  /// already_exists when the port or the database is in use by another server; those of
  /// open_store() and Listener::open().
  static Result<Server> start(const ServerOptions& options, std::unique_ptr<Store> store = nullptr);

  Server(Server&& other) noexcept;
  Server& operator=(Server&&) = delete;
  /// Stops.
  ~Server();

  /// Where it listens: the port is the real one.
  const ListenAddress& address() const;
  /// Where it tells how it does; nullopt: nowhere.
  std::optional<ListenAddress> monitoring_address() const;

  /// The dashboard's address, "http://127.0.0.1:7412/"; nullopt: there is none.
  std::optional<std::string> http_url() const;

  /// Gives out no more runs, and says to health checks that it is not ready.
  void drain();
  /// True if no run is active.
  bool idle() const;

  /// Reads tokens again, and checks the certificates; changed ones are served within seconds,
  /// unasked. Errors: those of Authority::open(), and the store's.
  Status reload();

  /// Ends all streams and waits for calls in progress, at most two seconds. What was in progress is
  /// in the store and taken up by the next start. Idempotent.
  void stop();

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stripline::server
