// stripline-server: options, signals and exit codes. docs/server.md is the manual.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>
#include <spdlog/spdlog.h>

#include "base/exit_codes.h"
#include "server/log.h"
#include "server/server.h"

namespace {

using stripline::Error;
using stripline::ErrorCode;
using stripline::Result;
using stripline::Status;
using stripline::server::ServerOptions;

constexpr const char* kDefaultListen = "127.0.0.1:7411";
constexpr const char* kVersion = "0.1.0";

struct Arguments {
  bool dev = false;
  std::string listen;
  std::string insecure_listen;
  std::string data_dir;
  std::string port_file;
  std::string log_format = "text";
  std::string log_level = "info";
  stripline::server::CoordinatorOptions coordinator;
};

// $XDG_DATA_HOME/stripline, else ~/.local/share/stripline, else ./stripline-data.
std::string default_data_dir() {
  // Before any thread is started.
  if (const char* xdg = std::getenv("XDG_DATA_HOME"); xdg != nullptr && *xdg != '\0') {  // NOLINT
    return std::string(xdg) + "/stripline";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {  // NOLINT
    return std::string(home) + "/.local/share/stripline";
  }
  return "stripline-data";
}

void declare(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", kVersion);
  app.add_flag("--dev", arguments.dev, "Serve this machine only (loopback), without certificates");
  app.add_option("--listen", arguments.listen,
                 "With --dev: loopback address and port; port 0 takes any free one")
      ->type_name("HOST:PORT")
      ->default_str(kDefaultListen);
  app.add_option("--insecure-listen", arguments.insecure_listen,
                 "Serve the network without encryption or authentication: anyone who reaches the "
                 "port can run campaigns. Only on a trusted network")
      ->type_name("HOST:PORT");
  app.add_option("--data-dir", arguments.data_dir, "Folder of the database; created if missing")
      ->type_name("DIR")
      ->default_str(default_data_dir());
  app.add_option("--port-file", arguments.port_file,
                 "Write HOST:PORT to this file once the server is ready")
      ->type_name("FILE");
  app.add_option("--log-format", arguments.log_format, "text or json, on stderr")
      ->capture_default_str();
  app.add_option("--log-level", arguments.log_level, "debug, info, warning or error")
      ->capture_default_str();
  auto& times = arguments.coordinator;
  app.add_option("--heartbeat", times.heartbeat_interval_s,
                 "Seconds between agents' heartbeats; silent for three times as long, a session "
                 "is closed")
      ->check(CLI::Range(0.05, 3600.0))
      ->capture_default_str();
  app.add_option("--lease", times.lease_s,
                 "Seconds without a sign of life after which a node's run is lost and measured "
                 "again; more than --heartbeat")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  app.add_option("--join-timeout", times.join_timeout_s,
                 "Seconds that all ranks of a run may take to start and join")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  app.add_option("--max-failures", times.max_failures,
                 "A run lost or failed so often fails its campaign")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.footer(
      "Exit codes: 0 stopped by SIGTERM or SIGINT, 2 wrong option, 3 damaged or foreign database, "
      "4 cannot listen or write, 9 port or database in use. Manual: docs/server.md\n");
}

Result<ServerOptions> make_options(const Arguments& arguments) {
  ServerOptions options;
  options.coordinator = arguments.coordinator;
  options.data_dir = arguments.data_dir.empty() ? default_data_dir() : arguments.data_dir;
  if (arguments.dev == !arguments.insecure_listen.empty()) {
    return Error(ErrorCode::invalid_argument,
                 arguments.dev
                     ? "--dev and --insecure-listen exclude each other; give one of them"
                     : "this server has no certificates and will not serve without them unasked; "
                       "start it with --dev to serve this machine only, or with --insecure-listen "
                       "HOST:PORT to serve a trusted network without encryption");
  }
  if (!arguments.dev && !arguments.listen.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "--listen belongs to --dev; --insecure-listen takes the address itself");
  }
  const std::string listen = arguments.dev ? arguments.listen : arguments.insecure_listen;
  STRIPLINE_ASSIGN_OR_RETURN(options.listen, stripline::server::parse_listen_address(
                                                 listen.empty() ? kDefaultListen : listen));
  if (arguments.dev && !options.listen.is_loopback()) {
    return Error(ErrorCode::invalid_argument, "--dev serves loopback addresses only, not " +
                                                  options.listen.text() +
                                                  "; use --insecure-listen for a trusted network");
  }
  if (options.coordinator.lease_s <= options.coordinator.heartbeat_interval_s) {
    return Error(ErrorCode::invalid_argument,
                 "--lease must be longer than --heartbeat: every heartbeat renews the lease");
  }
  return options;
}

// Complete or not at all, so that a script may wait for the file to appear.
Status write_port_file(const std::string& path, const std::string& address) {
  const std::string temporary = path + ".new";
  std::ofstream file(temporary);
  file << address << "\n";
  file.close();
  std::error_code failure;
  if (file) std::filesystem::rename(temporary, path, failure);
  if (file && !failure) return {};
  return Error(ErrorCode::unavailable, "cannot write --port-file '" + path + "'");
}

int fail(const Error& error) {
  std::cerr << "stripline-server: " << error.message() << "\n";
  return stripline::exit_code_for(error.code());
}

int serve(const Arguments& arguments) {
  if (Status logging = stripline::server::start_logging(arguments.log_format, arguments.log_level);
      !logging.ok()) {
    return fail(logging.error());
  }
  const auto options = make_options(arguments);
  if (!options.ok()) return fail(options.error());

  // Blocked in every thread; the main thread waits for them below.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  auto server = stripline::server::Server::start(*options);
  if (!server.ok()) return fail(server.error());
  const std::string address = server->address().text();
  spdlog::info("listening on {}, data in '{}'", address, options->data_dir.string());
  if (!options->listen.is_loopback()) {
    spdlog::warn("{} is served without encryption or authentication", address);
  }
  std::cout << "stripline-server listening on " << address << std::endl;
  if (!arguments.port_file.empty()) {
    if (const Status written = write_port_file(arguments.port_file, address); !written.ok()) {
      return fail(written.error());
    }
  }

  int received = 0;
  sigwait(&signals, &received);
  spdlog::info("stopping on signal {}", received);
  server->stop();
  return stripline::kExitOk;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "stripline-server: plans campaigns, hands them to agents, keeps every sample, fits models",
      "stripline-server");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? stripline::kExitOk : stripline::kExitUsage;
  }
  return serve(arguments);
}
