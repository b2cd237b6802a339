// stripline-server: signals and exit codes. Its options are in options.h; docs/server.md is the
// manual.
#include <chrono>
#include <csignal>
#include <ctime>
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
#include "base/daemon/log.h"
#include "base/daemon/service_manager.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/quantity.h"
#include "proto/grpc_log.h"
#include "server/backup.h"
#include "server/clock.h"
#include "server/fit_worker.h"
#include "server/initialise.h"
#include "server/options.h"
#include "server/server.h"
#include "server/sqlite_store.h"

namespace {

using stripline::Error;
using stripline::ErrorCode;
using stripline::ServiceManager;
using stripline::Status;
using stripline::server::Invocation;
using stripline::server::Protection;
using stripline::server::Server;
using stripline::server::ServerOptions;

constexpr const char* kProgram = "stripline-server";
constexpr double kDrainLook_s = 0.1;

// Complete or not at all, so that a script may wait for the file to appear.
Status write_port_file(const std::string& path, const std::string& address) {
  const Status written = stripline::write_atomically(path, address + "\n");
  if (written.ok()) return {};
  return Error(written.error().code(), "--port-file: " + written.error().message());
}

int fail(const Error& error) {
  std::cerr << kProgram << ": error: " << error.message() << "\n";
  return stripline::exit_code_for(error.code());
}

int back_up(const Invocation& invocation) {
  const std::string& copy = invocation.arguments().backup;
  const Status done =
      stripline::server::back_up(invocation.data_dir() / stripline::server::kDatabaseFile, copy);
  if (!done.ok()) return fail(done.error());
  std::cout << "copied to " << copy << std::endl;
  return stripline::kExitOk;
}

int initialise(const Invocation& invocation) {
  const std::string folder = invocation.data_dir().string();
  const auto made = stripline::server::initialise(folder, invocation.arguments().hosts,
                                                  stripline::server::unix_seconds());
  if (!made.ok()) return fail(made.error());
  const std::string address =
      stripline::server::ListenAddress{made->server_host, stripline::server::kDefaultPort}.text();
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

// Blocked in every thread; the main thread waits for them.
sigset_t block_signals() {
  // A log that nobody reads any more is no reason to end.
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

void warn_unless(const Status& status) {
  if (!status.ok()) spdlog::warn("{}", status.error().message());
}

// The log level as it is configured now, certificates and tokens. What cannot be read stays as it
// was.
void reload(Server& server, const std::vector<std::string>& command_line,
            const ServiceManager& manager) {
  warn_unless(manager.reloading());
  Invocation invocation;
  invocation.app().parse(std::vector<std::string>(command_line.rbegin(), command_line.rend()));
  Status read = invocation.settle();
  if (read.ok()) read = stripline::set_log_level(invocation.arguments().log_level);
  if (!read.ok()) spdlog::error("the settings stay as they were: {}", read.error().message());
  if (const Status reloaded = server.reload(); !reloaded.ok()) {
    spdlog::error("cannot read certificates and tokens again: {}", reloaded.error().message());
  } else if (read.ok()) {
    spdlog::info("read the log level, certificates and tokens again");
  }
  warn_unless(manager.ready("serving"));
}

// Until no run is active, the time is over, or a second signal says that it is.
void drain(Server& server, double limit_s, const sigset_t& signals) {
  server.drain();
  if (server.idle()) return;
  spdlog::info("draining: no run is started any more; active ones may go on for {}",
               stripline::exact_seconds_text(limit_s));
  const timespec look{0, static_cast<long>(kDrainLook_s * 1e9)};
  const double end_s = stripline::server::steady_seconds() + limit_s;
  while (!server.idle() && stripline::server::steady_seconds() < end_s) {
    const int received = sigtimedwait(&signals, nullptr, &look);
    if (received == SIGTERM || received == SIGINT) return;
  }
}

int serve(const Invocation& invocation, const std::vector<std::string>& command_line) {
  const auto& arguments = invocation.arguments();
  auto options = invocation.server_options();
  if (!options.ok()) return fail(options.error());
  const ServiceManager manager = ServiceManager::from_environment();
  // A daemon has no terminal that could hang up.
  const bool hang_up_ends = ::isatty(STDERR_FILENO) != 0;
  const sigset_t signals = block_signals();

  std::promise<Error> lost;
  options->failed = [&](const Error& why) {
    lost.set_value(why);
    ::kill(::getpid(), SIGTERM);  // ends the wait below
  };
  auto server = Server::start(*options);
  if (!server.ok()) return fail(with_choices(server.error(), *options));
  const std::string address = server->address().text();
  spdlog::info("listening on {}, data in '{}'", address, options->data_dir.string());
  if (const auto monitoring = server->monitoring_address()) {
    spdlog::info("metrics on http://{}/metrics", monitoring->text());
  }
  if (const auto url = server->http_url()) spdlog::info("dashboard on {}", *url);
  if (options->protection == Protection::none) {
    spdlog::warn("{} is served without encryption or authentication", address);
  }
  std::cout << kProgram << " listening on " << address << std::endl;
  if (!arguments.port_file.empty()) {
    if (const Status written = write_port_file(arguments.port_file, address); !written.ok()) {
      return fail(written.error());
    }
  }
  warn_unless(manager.ready("listening on " + address));

  int received = 0;
  while (sigwait(&signals, &received) == 0 && received == SIGHUP && !hang_up_ends) {
    reload(*server, command_line, manager);
  }
  std::future<Error> why = lost.get_future();
  const bool failed = why.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  warn_unless(manager.stopping("ending"));
  if (!failed) {
    spdlog::info("stopping on signal {}", received);
    if (received == SIGTERM) drain(*server, arguments.drain_s, signals);
  }
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
  Invocation invocation;
  if (const auto end = stripline::read_command_line(invocation.app(), argc, argv)) return *end;
  if (invocation.arguments().init) return initialise(invocation);
  if (const Status settled = invocation.settle(); !settled.ok()) return fail(settled.error());
  const auto& arguments = invocation.arguments();
  if (!arguments.backup.empty()) return back_up(invocation);
  const auto& configuration = invocation.configuration();
  if (configuration.wants_print()) std::cout << configuration.text() << std::flush;
  if (!configuration.wants_start()) {
    const auto options = invocation.server_options();
    return options.ok() ? static_cast<int>(stripline::kExitOk) : fail(options.error());
  }
  if (const Status logging =
          stripline::start_logging(kProgram, arguments.log_format, arguments.log_level);
      !logging.ok()) {
    return fail(logging.error());
  }
  return serve(invocation, {argv + 1, argv + argc});
}
