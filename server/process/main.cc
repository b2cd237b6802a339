// stripline-server: signals and exit codes. Its options are in options.h; docs/server.md is the
// manual.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <malloc.h>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <spdlog/spdlog.h>

#include "base/atomic_file.h"
#include "base/command_line.h"
#include "base/daemon/log.h"
#include "base/daemon/service_manager.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/host_name.h"
#include "base/quantity.h"
#include "proto/grpc_log.h"
#include "server/clock.h"
#include "server/core/models/fit_worker.h"
#include "server/doors/acceptor.h"
#include "server/process/add_token.h"
#include "server/process/initialise.h"
#include "server/process/options.h"
#include "server/process/server.h"
#include "server/process/standby.h"
#include "server/store/backup.h"
#include "server/store/postgres_copy.h"
#include "server/store/postgres_store.h"
#include "server/store/sqlite_store.h"

namespace {

using stripline::Error;
using stripline::ErrorCode;
using stripline::Result;
using stripline::ServiceManager;
using stripline::Status;
using stripline::server::Invocation;
using stripline::server::ListenAddress;
using stripline::server::Listener;
using stripline::server::Protection;
using stripline::server::Server;
using stripline::server::ServerOptions;
using stripline::server::Standby;
using stripline::server::Store;

constexpr const char* kProgram = "stripline-server";
constexpr double kDrainLook_s = 0.1;
// Within which a server, or one that stands by, has ended all calls, unless a peer reads nothing.
constexpr double kStopLimit_s = 10;
// How often a server that stands by looks whether it is its turn.
constexpr double kTurnLook_s = 0.5;
// With which the server's own threads wake the main thread.
constexpr int kWakeUp = SIGUSR2;

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
  const auto location = invocation.store();
  if (!location.ok()) return fail(location.error());
  const Status done =
      location->url.empty()
          ? stripline::server::back_up(location->folder / stripline::server::kDatabaseFile, copy,
                                       invocation.data_dir())
          : stripline::server::back_up_postgres(location->url, copy, invocation.data_dir());
  if (!done.ok()) return fail(done.error());
  std::cout << "copied to " << copy << std::endl;
  return stripline::kExitOk;
}

int restore(const Invocation& invocation) {
  const std::string& file = invocation.arguments().restore;
  const auto location = invocation.store();
  if (!location.ok()) return fail(location.error());
  const auto done =
      location->url.empty()
          ? stripline::server::restore(file, location->folder / stripline::server::kDatabaseFile,
                                       invocation.data_dir())
          : stripline::server::restore_into_postgres(file, location->url, invocation.data_dir());
  if (!done.ok()) return fail(done.error());
  std::cout << "restored from " << file
            << (*done ? ", with its certificates" : ", without certificates") << std::endl;
  return stripline::kExitOk;
}

int initialise(const Invocation& invocation) {
  const std::string folder = invocation.data_dir().string();
  const auto location = invocation.store();
  if (!location.ok()) return fail(location.error());
  const auto made = stripline::server::initialise(folder, invocation.arguments().hosts,
                                                  stripline::server::unix_seconds(), *location);
  if (!made.ok()) return fail(made.error());
  const std::string address =
      ListenAddress{made->server_host, stripline::server::kDefaultPort}.text();
  std::cerr
      << "Certificates and tokens are in '" << folder << "', for this user alone.\n\n"
      << "Serve:\n  stripline-server --listen 0.0.0.0:7411 --data-dir " << folder
      << (location->url.empty() ? "" : " --store '" + location->url + "'") << "\n\n"
      << "Administer:\n  stripline login --server " << address << " --token-file "
      << made->admin_token_file.string() << "\n\n"
      << "Enrol a node, which starts its agent, with a file of this user there, within a day; "
         "'stripline\ntoken create --role agent -o FILE' makes one for each further node:\n"
      << std::flush;
  std::cout << "stripline-agent --server " << address << " --enroll "
            << made->node_token_file.string() << std::endl;
  return stripline::kExitOk;
}

// A token for whoever owns the folder.
int make_token(const Invocation& invocation) {
  const auto& arguments = invocation.arguments();
  const auto location = invocation.store();
  if (!location.ok()) return fail(location.error());
  stripline::server::TokenOrder order = arguments.token_order;
  order.role = stripline::server::role_from_string(arguments.token_role);
  // The secret is had once: what can go wrong with the file goes wrong before.
  std::optional<stripline::AtomicFile> file;
  if (!arguments.token_output.empty()) {
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::symlink_status(arguments.token_output, ignored))) {
      return fail(
          {ErrorCode::invalid_argument,
           "'" + arguments.token_output + "' exists, and may hold another token; name a new file"});
    }
    auto created = stripline::AtomicFile::create(arguments.token_output, S_IRUSR | S_IWUSR);
    if (!created.ok()) return fail(created.error());
    file.emplace(std::move(*created));
  }
  const auto made = stripline::server::add_token(invocation.data_dir(), *location, order,
                                                 stripline::server::unix_seconds());
  if (!made.ok()) return fail(made.error());
  if (!file) {
    std::cout << made->text << std::endl;
    return stripline::kExitOk;
  }
  Status kept = file->write(made->text + "\n");
  if (kept.ok()) kept = file->commit();
  return kept.ok() ? static_cast<int>(stripline::kExitOk) : fail(kept.error());
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
  // A log that no one reads any more is no reason to end.
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, kWakeUp}) sigaddset(&signals, number);
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

// Ends the process should it not have ended by itself, or gone on, within the given time. What was
// acknowledged is stored, and neither a peer that reads nothing nor a log that takes no more may
// keep it: so it says nothing itself.
class LastResort {
 public:
  LastResort(double limit_s, int exit_code, const sigset_t& signals)
      : end_s_(stripline::server::steady_seconds() + limit_s),
        thread_([this, exit_code, signals](const std::stop_token& stop) {
          const timespec look{0, static_cast<long>(kDrainLook_s * 1e9)};
          while (!stop.stop_requested()) {
            if (stripline::server::steady_seconds() >= end_s_) ::_exit(exit_code);
            if (!heeds_signals_) {
              ::nanosleep(&look, nullptr);
              continue;
            }
            const int received = sigtimedwait(&signals, nullptr, &look);
            if (received == SIGTERM || received == SIGINT) ::_exit(stripline::kExitOk);
          }
        }) {}

  /// From now on: at the latest after this time, or at a signal.
  void hurry(double limit_s) {
    end_s_ = stripline::server::steady_seconds() + limit_s;
    heeds_signals_ = true;
  }

 private:
  std::atomic<double> end_s_;
  std::atomic<bool> heeds_signals_ = false;
  std::jthread thread_;
};

// Says once that the server can be reached.
class Announcement {
 public:
  Announcement(const ServiceManager& manager, std::string port_file)
      : manager_(manager), port_file_(std::move(port_file)) {}

  Status say(const std::string& address) {
    if (said_) return {};
    said_ = true;
    std::cout << kProgram << " listening on " << address << std::endl;
    if (!port_file_.empty()) STRIPLINE_RETURN_IF_ERROR(write_port_file(port_file_, address));
    warn_unless(manager_.ready("listening on " + address));
    return {};
  }

 private:
  const ServiceManager& manager_;
  const std::string port_file_;
  bool said_ = false;
};

// Why a server does not go on until somebody ends it.
class Interruption {
 public:
  void fail(const Error& why) { note(failed_, why); }
  void replace(const Error& why) { note(replaced_, why); }
  std::optional<Error> failed() const {
    const std::lock_guard lock(mutex_);
    return failed_;
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return replaced_ ? replaced_->message() : "";
  }

 private:
  void note(std::optional<Error>& member, const Error& why) {
    {
      const std::lock_guard lock(mutex_);
      member = why;
    }
    ::kill(::getpid(), kWakeUp);
  }

  mutable std::mutex mutex_;
  std::optional<Error> failed_;    // for good
  std::optional<Error> replaced_;  // until it is its turn again
};

// Other servers and their users find it under its host's name, wherever it listens.
std::string address_for_others(const ListenAddress& listen) {
  const bool everywhere = listen.host == "0.0.0.0" || listen.host == "::";
  return ListenAddress{everywhere ? stripline::host_name() : listen.host, listen.port}.text();
}

// From its first look at the settings to its end.
class Service {
 public:
  Service(const Invocation& invocation, std::vector<std::string> command_line,
          ServerOptions options)
      : invocation_(invocation),
        command_line_(std::move(command_line)),
        options_(std::move(options)),
        announcement_(manager_, invocation.arguments().port_file) {}

  int run() {
    while (true) {
      if (const auto exit_code = serve_a_turn()) return *exit_code;
      last_resort_.reset();
      first_ = false;
    }
  }

 private:
  bool is_shared() const { return !options_.store.url.empty(); }

  // The exit code when it has ended; nullopt when another server has taken the database over.
  std::optional<int> serve_a_turn() {
    Interruption interruption;
    options_.failed = [&](const Error& why) { interruption.fail(why); };
    options_.replaced = [&](const Error& why) { interruption.replace(why); };
    std::unique_ptr<Store> store;
    if (is_shared()) {
      auto turn = wait_for_turn();
      if (!turn.ok()) return fail(turn.error());
      if (!*turn) return stripline::kExitOk;
      store = std::move(*turn);
      last_resort_.reset();
    }
    auto server = Server::start(options_, std::move(store));
    if (!server.ok()) {
      if (first_ || !is_shared()) return fail(with_choices(server.error(), options_));
      spdlog::error("cannot serve: {}", server.error().message());
      return std::nullopt;
    }
    log_doors(*server);
    if (const Status said = announcement_.say(server->address().text()); !said.ok()) {
      return fail(said.error());
    }
    const int received = wait_for_signal(*server);
    if (received == kWakeUp) {
      // One that cannot stand by is started again by the service manager.
      const auto failed = interruption.failed();
      end_within_limit(failed ? stripline::exit_code_for(failed->code())
                              : static_cast<int>(stripline::kExitUnavailable));
      if (!failed) spdlog::error("this server serves no more: {}", interruption.text());
      server->stop();
      if (failed) return fail(*failed);
      return std::nullopt;
    }
    const double drain_s = received == SIGTERM ? invocation_.arguments().drain_s : 0;
    // Before anything is logged: a pipe without a reader blocks.
    last_resort_.emplace(drain_s + kStopLimit_s, stripline::kExitOk, signals_);
    warn_unless(manager_.stopping("ending"));
    spdlog::info("stopping on signal {}", received);
    if (received == SIGTERM) drain(*server, drain_s, signals_);
    last_resort_->hurry(kStopLimit_s);
    server->stop();
    return stripline::kExitOk;
  }

  void end_within_limit(int exit_code) {
    last_resort_.emplace(kStopLimit_s, exit_code, signals_);
    last_resort_->hurry(kStopLimit_s);
  }

  // The store of a database that servers share, when it is this one's turn; null when a signal has
  // ended the wait. At first a database that cannot be reached is an error.
  Result<std::unique_ptr<Store>> wait_for_turn() {
    // Other servers learn the address before the port is taken.
    if (options_.listen.port == 0) {
      STRIPLINE_ASSIGN_OR_RETURN(const auto listener, Listener::open(options_.listen));
      options_.listen.port = listener.port();
    }
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto turn,
        stripline::server::queue_for_postgres(
            {options_.store.url, address_for_others(options_.listen), options_.takeover_s}));
    Result<std::unique_ptr<Store>> store = turn->take();
    if (store.ok() ? *store != nullptr : first_) return store;
    STRIPLINE_ASSIGN_OR_RETURN(Standby standby, Standby::start(options_));
    STRIPLINE_RETURN_IF_ERROR(announcement_.say(standby.address().text()));
    const double look_s = std::min(kTurnLook_s, options_.takeover_s / 10);
    const timespec look{0, static_cast<long>(look_s * 1e9)};
    std::string said;
    while (true) {
      const std::string obstacle = store.ok() ? "" : store.error().message();
      standby.tell(turn->writer_address(), obstacle);
      const std::string why =
          obstacle.empty() ? "the server at " + turn->writer_address() + " serves" : obstacle;
      if (why != said) spdlog::info("{} stands by: {}", standby.address().text(), why);
      said = why;
      const int received = sigtimedwait(&signals_, nullptr, &look);
      if (received == SIGTERM || received == SIGINT) {
        end_within_limit(stripline::kExitOk);
        return std::unique_ptr<Store>();
      }
      store = turn->take();
      if (store.ok() && *store) {
        // Peers of the one that stands by must not keep it from serving: a new process has none.
        end_within_limit(stripline::kExitUnavailable);
        return store;
      }
    }
  }

  void log_doors(const Server& server) const {
    const std::string address = server.address().text();
    spdlog::info("listening on {}, data in '{}'", address,
                 is_shared() ? options_.store.url : options_.data_dir.string());
    if (const auto monitoring = server.monitoring_address()) {
      spdlog::info("metrics on http://{}/metrics", monitoring->text());
    }
    if (const auto url = server.http_url()) spdlog::info("dashboard on {}", *url);
    if (options_.protection == Protection::none) {
      spdlog::warn("{} is served without encryption or authentication", address);
    }
  }

  int wait_for_signal(Server& server) {
    // A daemon has no terminal that could hang up.
    const bool hang_up_ends = ::isatty(STDERR_FILENO) != 0;
    int received = 0;
    while (sigwait(&signals_, &received) == 0 && received == SIGHUP && !hang_up_ends) {
      reload(server, command_line_, manager_);
    }
    return received;
  }

  const Invocation& invocation_;
  const std::vector<std::string> command_line_;
  ServerOptions options_;
  const ServiceManager manager_ = ServiceManager::from_environment();
  const sigset_t signals_ = block_signals();
  Announcement announcement_;
  bool first_ = true;
  std::optional<LastResort> last_resort_;  // until a server, or one that stands by, is no more
};

}  // namespace

int main(int argc, char** argv) {
  stripline::prepare_descriptors();
  // Each arena keeps what its threads once needed: a few for all threads.
  ::mallopt(M_ARENA_MAX, 4);
  // What a server starts to fit a model: no command for users.
  if (argc == 3 && std::string_view(argv[1]) == stripline::server::kFitWorkerCommand) {
    return stripline::server::run_fit_worker(STDIN_FILENO, STDOUT_FILENO,
                                             std::strtoull(argv[2], nullptr, 10));
  }
  stripline::silence_grpc();
  Invocation invocation;
  if (const auto end = stripline::read_command_line(invocation.app(), argc, argv)) return *end;
  if (invocation.arguments().init) return initialise(invocation);
  if (invocation.arguments().token) return make_token(invocation);
  if (const Status settled = invocation.settle(); !settled.ok()) return fail(settled.error());
  const auto& arguments = invocation.arguments();
  if (!arguments.backup.empty()) return back_up(invocation);
  if (!arguments.restore.empty()) return restore(invocation);
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
  auto options = invocation.server_options();
  if (!options.ok()) return fail(options.error());
  return Service(invocation, {argv + 1, argv + argc}, std::move(*options)).run();
}
