// stripline-server: options, signals and exit codes. docs/server.md is the manual.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <iostream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <spdlog/spdlog.h>

#include "base/atomic_file.h"
#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "proto/grpc_log.h"
#include "server/backup.h"
#include "server/clock.h"
#include "server/fit_worker.h"
#include "server/initialise.h"
#include "server/log.h"
#include "server/server.h"
#include "server/sqlite_store.h"

namespace {

using stripline::Error;
using stripline::ErrorCode;
using stripline::Result;
using stripline::Status;
using stripline::server::Protection;
using stripline::server::ServerOptions;

constexpr const char* kDefaultListen = "127.0.0.1:7411";
constexpr uint16_t kDefaultPort = 7411;
// Less would not even hold the program.
constexpr uint64_t kLeastFitBytes = uint64_t{256} << 20;

struct Arguments {
  bool init = false;
  std::vector<std::string> hosts;  // of init
  bool dev = false;
  std::string listen;
  std::string insecure_listen;
  std::string data_dir;
  bool allow_network_disk = false;
  std::string port_file;
  std::string backup;
  std::string log_format = "text";
  std::string log_level = "info";
  stripline::server::CoordinatorOptions coordinator;
  stripline::server::FitLimits fit;
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

std::string data_dir_of(const Arguments& arguments) {
  return arguments.data_dir.empty() ? default_data_dir() : arguments.data_dir;
}

void declare(CLI::App& app, Arguments& arguments) {
  app.require_subcommand(0, 1);
  CLI::App* init =
      app.add_subcommand("init", "Make certificates and the first tokens, once, before serving");
  init->add_option("--data-dir", arguments.data_dir, "Folder of the server; created if missing")
      ->type_name("DIR")
      ->default_str(default_data_dir());
  init->add_option("--host", arguments.hosts,
                   "Name or address under which agents and users reach the server; may be "
                   "repeated (default: this host's name)")
      ->type_name("HOST");
  init->footer(
      "Writes a certificate authority and the server's certificate (in DIR/tls) and an\n"
      "administrator's token (DIR/admin.token), readable by this user alone. Prints the command "
      "that\n"
      "enrols the first node. What exists is not overwritten.\n\n"
      "Exit codes: 0 done, 2 wrong host, 4 cannot write, 9 done before, or a server runs there\n\n"
      "Example:\n"
      "  stripline-server init --data-dir /srv/stripline --host head --host 10.0.0.1\n");
  init->callback([&arguments] { arguments.init = true; });
  app.add_flag("--dev", arguments.dev,
               "Serve this user's programs on this machine only (loopback), without certificates");
  app.add_option("--listen", arguments.listen,
                 "Address and port (with --dev: a loopback address); port 0 takes any free one")
      ->type_name("HOST:PORT")
      ->default_str(kDefaultListen);
  app.add_option("--insecure-listen", arguments.insecure_listen,
                 "Serve a trusted network, without encryption or authentication")
      ->type_name("HOST:PORT");
  app.add_option("--data-dir", arguments.data_dir, "Folder of the database; created if missing")
      ->type_name("DIR")
      ->default_str(default_data_dir());
  app.add_flag("--allow-network-disk", arguments.allow_network_disk,
               "Accept a data folder on a network file system, where a database may be damaged");
  app.add_option("--backup", arguments.backup,
                 "Copy the database of --data-dir to this file and exit; a server may be running")
      ->type_name("FILE");
  app.add_option("--port-file", arguments.port_file,
                 "Write HOST:PORT to this file once the server is ready")
      ->type_name("FILE");
  app.add_option("--log-format", arguments.log_format, "Of the log on stderr: text or json")
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_option("--log-level", arguments.log_level, "debug, info, warning or error")
      ->type_name("LEVEL")
      ->capture_default_str();
  auto& times = arguments.coordinator;
  const auto time = [&](const char* name, double& value, double low, const char* text) {
    app.add_option(name, value, text)
        ->type_name("TIME")
        ->transform(stripline::time_within({.least_s = low, .most_s = 3600}))
        ->capture_default_str();
  };
  time("--heartbeat", times.heartbeat_interval_s, 0.05,
       "Agents' heartbeats; silent for three times as long, a session is closed");
  time("--lease", times.lease_s, 0.1,
       "A node that gives no sign of life for so long loses its run");
  time("--join-timeout", times.join_timeout_s, 0.1,
       "All ranks of a run must have started and joined by then");
  app.add_option("--max-failures", times.max_failures,
                 "A run lost or failed so often fails its campaign")
      ->type_name("N")
      ->transform(stripline::whole_number(1, 1000))
      ->capture_default_str();
  app.add_option("--max-wait", times.max_wait_s,
                 "A campaign that waits for nodes for so long fails")
      ->type_name("TIME")
      ->transform(stripline::time_within({.least_s = 1, .most_s = 1e9}))
      ->default_str("7 days");
  app.add_option("--fit-memory", arguments.fit.memory_bytes,
                 "Address space of the process that fits a model, such as 4GiB")
      ->type_name("SIZE")
      ->transform(stripline::size_from(kLeastFitBytes))
      ->default_str("4GiB");
  app.add_option("--fit-time", arguments.fit.time_s,
                 "A fit that takes longer is ended; the second that comes to no answer fails its "
                 "campaign")
      ->type_name("TIME")
      ->transform(stripline::time_within({.least_s = 1, .most_s = 86400}))
      ->capture_default_str();
  app.footer(
      "Serves by TLS with the certificates that 'stripline-server init' makes; users show tokens,\n"
      "nodes certificates. Without them: --dev, for the programs of this user on this machine, or\n"
      "--insecure-listen, with which anyone who reaches the port can run campaigns and read\n"
      "samples. Killed at any moment and started again on the same folder, it goes on; nothing it\n"
      "has acknowledged is lost.\n\n"
      "Exit codes:\n"
      "  0  stopped by SIGTERM or SIGINT\n"
      "  2  wrong option or address\n"
      "  3  the database is damaged, of another program, or of a newer version; certificates are\n"
      "     damaged or have expired, or other users could read a key\n"
      "  4  the data folder or port file cannot be written, the port may not be used\n"
      "  9  the port or the database is in use by another server\n\n"
      "Examples:\n"
      "  stripline-server --dev\n"
      "  stripline-server init --data-dir /srv/stripline --host head\n"
      "  stripline-server --listen 0.0.0.0:7411 --data-dir /srv/stripline\n"
      "  stripline-server --insecure-listen 0.0.0.0:7411 --data-dir /srv/stripline\n"
      "  stripline-server --data-dir /srv/stripline --backup /backup/stripline.db\n\n"
      "Manual: docs/server.md\n");
}

Result<ServerOptions> make_options(const Arguments& arguments) {
  ServerOptions options;
  options.coordinator = arguments.coordinator;
  options.fitter = stripline::server::fit_in_child("/proc/self/exe", arguments.fit);
  options.allow_network_disk = arguments.allow_network_disk;
  options.data_dir = data_dir_of(arguments);
  const bool insecure = !arguments.insecure_listen.empty();
  if (arguments.dev && insecure) {
    return Error(ErrorCode::invalid_argument,
                 "--dev and --insecure-listen exclude each other; give one of them");
  }
  if (insecure && !arguments.listen.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "--insecure-listen takes the address itself; leave --listen out");
  }
  options.protection = arguments.dev ? Protection::own_user
                       : insecure    ? Protection::none
                                     : Protection::certificates;
  const std::string listen = insecure ? arguments.insecure_listen : arguments.listen;
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
  const Status written = stripline::write_atomically(path, address + "\n");
  if (written.ok()) return {};
  return Error(written.error().code(), "--port-file: " + written.error().message());
}

int fail(const Error& error) {
  std::cerr << "stripline-server: error: " << error.message() << "\n";
  return stripline::exit_code_for(error.code());
}

int back_up(const Arguments& arguments) {
  const std::filesystem::path folder = data_dir_of(arguments);
  const Status done =
      stripline::server::back_up(folder / stripline::server::kDatabaseFile, arguments.backup);
  if (!done.ok()) return fail(done.error());
  std::cout << "copied to " << arguments.backup << std::endl;
  return stripline::kExitOk;
}

int initialise(const Arguments& arguments) {
  const std::string folder = data_dir_of(arguments);
  const auto made =
      stripline::server::initialise(folder, arguments.hosts, stripline::server::unix_seconds());
  if (!made.ok()) return fail(made.error());
  const std::string address =
      stripline::server::ListenAddress{made->server_host, kDefaultPort}.text();
  std::cerr << "Certificates and tokens are in '" << folder << "', for this user alone.\n\n"
            << "Serve:\n  stripline-server --listen 0.0.0.0:7411 --data-dir " << folder << "\n\n"
            << "Administer:\n  stripline login --server " << address << " --token-file "
            << made->admin_token_file.string() << "\n\n"
            << "Enrol a node, which starts its agent, with this token within a day; 'stripline "
               "token create\n--role agent' makes one for each further node:\n"
            << std::flush;
  std::cout << "echo " << made->node_token << " | stripline-agent --server " << address
            << " --enroll -" << std::endl;
  return stripline::kExitOk;
}

// Without certificates there is something to choose.
Error with_choices(const Error& error, const ServerOptions& options) {
  if (options.protection != Protection::certificates || error.code() != ErrorCode::not_found) {
    return error;
  }
  return {ErrorCode::invalid_argument,
          error.message() +
              ". To serve without: --dev, for this user on this machine, or --insecure-listen "
              "HOST:PORT, for everybody on a trusted network"};
}

int serve(const Arguments& arguments) {
  if (Status logging = stripline::server::start_logging(arguments.log_format, arguments.log_level);
      !logging.ok()) {
    return fail(logging.error());
  }
  auto options = make_options(arguments);
  if (!options.ok()) return fail(options.error());

  // A log that nobody reads any more is no reason to end.
  std::signal(SIGPIPE, SIG_IGN);
  // Blocked in every thread; the main thread waits for them below.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  std::promise<Error> lost;
  options->failed = [&](const Error& why) {
    lost.set_value(why);
    ::kill(::getpid(), SIGTERM);  // ends the wait below
  };
  auto server = stripline::server::Server::start(*options);
  if (!server.ok()) return fail(with_choices(server.error(), *options));
  const std::string address = server->address().text();
  spdlog::info("listening on {}, data in '{}'", address, options->data_dir.string());
  if (options->protection == Protection::none) {
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
  std::future<Error> why = lost.get_future();
  const bool failed = why.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  if (!failed) spdlog::info("stopping on signal {}", received);
  server->stop();
  return failed ? fail(why.get()) : stripline::kExitOk;
}

}  // namespace

int main(int argc, char** argv) {
  stripline::prepare_descriptors();
  // What a server starts to fit a model: no command for users.
  if (argc == 3 && std::string_view(argv[1]) == stripline::server::kFitWorkerCommand) {
    return stripline::server::run_fit_worker(STDIN_FILENO, STDOUT_FILENO,
                                             std::strtoull(argv[2], nullptr, 10));
  }
  stripline::silence_grpc();
  CLI::App app(
      "Plans campaigns, hands their runs to agents, keeps every sample, and fits and publishes "
      "models.",
      "stripline-server");
  Arguments arguments;
  declare(app, arguments);
  if (const auto end = stripline::read_command_line(app, argc, argv)) return *end;
  if (arguments.init) return initialise(arguments);
  return arguments.backup.empty() ? serve(arguments) : back_up(arguments);
}
