// The settings of `stripline-server`: its command line, with environment and file (base/daemon).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/daemon/configuration.h"
#include "base/result.h"
#include "server/core/models/fit_worker.h"
#include "server/process/server.h"
#include "server/security/new_token.h"
#include "server/security/people_options.h"

namespace CLI {
class App;
}

namespace stripline::server {

inline constexpr uint16_t kDefaultPort = 7411;

/// As given; nothing but single values is checked.
struct Arguments {
  bool init = false;
  std::vector<std::string> hosts;  ///< of init
  bool token = false;              ///< make one
  std::string token_role;
  TokenOrder token_order;    ///< without its role
  std::string token_output;  ///< the file that gets it; empty: standard output
  bool dev = false;
  std::string listen;
  std::string insecure_listen;
  std::string data_dir;
  std::string store;  ///< empty: a file of the data folder
  double takeover_s = 15;
  bool allow_network_disk = false;
  std::string port_file;
  std::string backup;
  std::string restore;
  std::string metrics_listen;  ///< empty: nowhere
  std::string http_listen;     ///< empty: nowhere
  std::string http_names;      ///< with commas between them
  std::string http_proxies;    ///< with commas between them
  PeopleArguments people;
  std::string log_format = "text";
  std::string log_level = "info";
  double drain_s = 10;  ///< how long SIGTERM waits for active runs
  CoordinatorOptions coordinator;
  FitLimits fit;
  RetentionLimits retention;
  double sentinel_interval_s = SentinelOptions().interval_s;
  std::string stale_policy = "keep";
};

/// One reading of all settings.
class Invocation {
 public:
  Invocation();
  ~Invocation();
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;

  CLI::App& app() { return *app_; }
  /// For after the command line has been parsed: the settings from elsewhere. Errors: those of
  /// Configuration::settle().
  Status settle();

  const Arguments& arguments() const { return arguments_; }
  const Configuration& configuration() const { return *configuration_; }
  /// The folder of the database.
  std::filesystem::path data_dir() const;
  /// Where the database is. Errors: invalid_argument.
  Result<StoreLocation> store() const;
  /// What they mean together. Errors: invalid_argument.
  Result<ServerOptions> server_options() const;

 private:
  Arguments arguments_;
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<Configuration> configuration_;
};

}  // namespace stripline::server
