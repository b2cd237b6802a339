// stripline-agent: the node daemon.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <spdlog/spdlog.h>

#include "agent/agent.h"
#include "agent/credentials.h"
#include "agent/description.h"
#include "agent/enrolment.h"
#include "agent/node_name.h"
#include "agent/relay.h"
#include "base/clock.h"
#include "base/command_line.h"
#include "base/daemon/configuration.h"
#include "base/daemon/log.h"
#include "base/daemon/service_manager.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/host_and_port.h"
#include "base/number_text.h"
#include "base/pki/secret_file.h"
#include "base/pki/token.h"
#include "base/pushed_models.h"
#include "base/subprocess.h"

namespace {

using stripline::agent::Agent;
using stripline::agent::Relay;

constexpr double kDescribeTimeout_s = 60;

// What the signal handler speaks to; set before the handler is installed.
Agent* stoppable = nullptr;
const Relay* stoppable_relay = nullptr;

void on_signal(int signal) {
  if (signal == SIGHUP) {
    stoppable->hang_up();
  } else {
    stoppable->stop(signal == SIGUSR1);
  }
}

void on_relay_signal(int /*signal*/) { stoppable_relay->stop(); }

void obey_signals(Agent& agent) {
  stoppable = &agent;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGUSR1, &action, nullptr);
  // In a terminal it says that the terminal is gone: then the agent ends, too.
  if (::isatty(STDERR_FILENO) == 0) ::sigaction(SIGHUP, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

void warn_unless(const stripline::Status& status) {
  if (!status.ok()) spdlog::warn("{}", status.error().message());
}

int fail(const stripline::Error& error) {
  std::fprintf(stderr, "stripline-agent: error: %s\n", error.message().c_str());
  return stripline::exit_code_for(error.code());
}

constexpr const char* kNone = "none";
constexpr double kEnrolTimeout_s = 30;

// Once: a unit of systemd may say it at each start.
stripline::Status enroll(const stripline::agent::AgentOptions& options, const std::string& file) {
  using stripline::Error;
  using stripline::ErrorCode;
  if (options.identity_file.empty()) {
    return Error(ErrorCode::invalid_argument, "--enroll needs a file to keep the certificate in");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, stripline::pki::read_secret_line(file));
  STRIPLINE_ASSIGN_OR_RETURN(const auto token, stripline::pki::parse_token(text));
  if (token.kind != stripline::pki::Token::Kind::node) {
    return Error(ErrorCode::invalid_argument,
                 "this token is a user's; 'stripline token create --role agent' makes one that "
                 "enrols a node");
  }
  if (stripline::agent::is_enrolled(options.identity_file, token, stripline::unix_seconds())) {
    spdlog::info("nodes/{} is enrolled already, by '{}'", options.node, options.identity_file);
    return {};
  }
  stripline::Status enrolled;
  for (const stripline::HostAndPort& server : options.servers) {
    enrolled = stripline::agent::enroll(server, token, options.node, options.identity_file,
                                        kEnrolTimeout_s);
    if (enrolled.ok() || enrolled.error().code() != ErrorCode::unavailable) break;
  }
  STRIPLINE_RETURN_IF_ERROR(enrolled);
  spdlog::info("nodes/{} is enrolled; its key and certificate are in '{}'", options.node,
               options.identity_file);
  return {};
}

constexpr const char* kDescription =
    "Serves this node: connects to a Stripline server, runs the measurements that campaigns assign "
    "to\n"
    "this node in worker processes, and streams the samples to the server.\n\n"
    "The agent dials out and opens no port. When the server goes away it keeps measuring, keeps "
    "the\n"
    "samples and reconnects. While it has nothing to do it sleeps. Its workers end with it.";

constexpr const char* kFooter =
    "Every option is also a variable and a key of the file that --config names: --log-level is\n"
    "STRIPLINE_AGENT_LOG_LEVEL and log-level. The command line comes first, then the environment,\n"
    "then the file. STRIPLINE_SERVER names the server, too, as it does for 'stripline'. The\n"
    "environment is passed on to the workers: set FI_* variables here.\n\n"
    "With --job it ends when there has been no work for --job-idle. A minute before the job's end\n"
    "(--job-end, else SLURM_JOB_END_TIME) it takes no more runs, ten seconds before it ends what "
    "is\n"
    "being measured.\n\n"
    "SIGHUP: reads the log level again. SIGTERM, SIGINT: takes no more runs, and ends what is "
    "being\n"
    "measured after --drain-time. SIGUSR1: lets it go on to its end.\n\n"
    "Exit codes:\n"
    "  0  stopped while idle; with --job: there is no work any more\n"
    "  2  wrong option or setting, no such worker, or no token\n"
    "  3  the server speaks another version of the protocol, or refuses this agent or its token\n"
    "  4  the worker cannot describe this node; with --job: no server was there\n"
    "  7  stopped while it was measuring: the run was ended and the server notified\n"
    "  9  another agent holds this node's name\n\n"
    "Examples:\n"
    "  stripline-agent --server head:7411\n"
    "  stripline-agent --server head:7411 --enroll token.txt   # the first time, by TLS\n"
    "  srun --ntasks-per-node=1 --cpu-bind=none stripline-agent --job --server head:7411\n"
    "  stripline-agent --relay 0.0.0.0:7411 --server head:7411   # for nodes without a route to "
    "it\n"
    "  stripline-agent --server 127.0.0.1:7411 --node a   # two agents on one machine need two "
    "names\n";

constexpr const char* kProgram = "stripline-agent";
constexpr const char* kIdentityOfNode = "NAME.pem in ~/.local/share/stripline/nodes";

// For Option::check().
std::string is_name(const std::string& name) {
  return stripline::agent::is_node_name(name)
             ? std::string()
             : "'" + name + "' is not a valid name; it must match [a-z0-9][a-z0-9._-]{0,62}";
}

// One reading of all settings.
class Invocation {
 public:
  Invocation() : app_(kDescription, kProgram) {
    node = stripline::agent::default_node_name();
    const std::filesystem::path programs = stripline::executable_folder();
    worker = (programs / "stripline-worker").string();
    targets.program = (programs / "stripline-tune").string();
    app_.footer(kFooter);
    stripline::add_value(app_, "--server", server,
                         "Address of the server; with commas, of those that take over from it, too",
                         "HOST:PORT")
        ->capture_default_str();
    stripline::add_value(
        app_, "--node", node,
        "Name of this node: lower-case letters, digits, '.', '_', '-'; default: the "
        "host's name",
        "NAME")
        ->check(is_name)
        ->capture_default_str();
    stripline::add_value(app_, "--cluster", cluster,
                         "The cluster that this node belongs to; nodes of two never make a group "
                         "(default: default)",
                         "NAME")
        ->check(is_name);
    stripline::add_value(app_, "--worker", worker, "The program that runs measurements", "PATH")
        ->default_str("stripline-worker in the folder of this program");
    stripline::add_value(app_, "--profile", profiles,
                         "File of an emulated network to offer besides those that are built in "
                         "(docs/emulated-fabric.md); may be given again",
                         "FILE")
        ->check(CLI::ExistingFile)
        ->allow_extra_args(false);
    stripline::add_value(app_, "--identity", identity,
                         std::string("File with this node's key and certificate; none: show no "
                                     "certificate (default: ") +
                             kIdentityOfNode + ")",
                         "FILE");
    stripline::add_value(
        app_, "--enroll", enrolment,
        "Become known to the server first, with the token in this file (mode 0600) or, "
        "for -, on standard input; without effect when this was done before",
        "FILE");
    stripline::add_value(
        app_, "--models-dir", models_dir,
        "Folder for the models that the server pushes to this node, in which "
        "'stripline run' looks for them; none: take none (default: "
        "/var/lib/stripline-models, or the user's ~/.local/state/stripline/models)",
        "DIR");
    stripline::add_value(
        app_, "--tune", targets.tuned,
        "Another runtime that campaigns may tune on this node, e.g. openmpi; may be "
        "given again (docs/tuning-other-runtimes.md)",
        "TARGET")
        ->allow_extra_args(false);
    stripline::add_value(
        app_, "--largest-job", targets.largest_job,
        "Ranks of the largest job here: memory that settings of other runtimes take is "
        "estimated for as many (default: as many as are tuned)",
        "N")
        ->transform(stripline::whole_number(2, 1 << 24));
    stripline::add_value(
        app_, "--install", installs,
        "Install settings of another runtime that the server pushes in this folder; may "
        "be given again",
        "TARGET=FOLDER")
        ->allow_extra_args(false);
    app_.add_flag("--install-commutative", targets.commutative_only,
                  "Install also settings that hold for programs whose operations commute alone");
    stripline::add_value(app_, "--log-format", log_format, "Format of the log on stderr", "FORMAT")
        ->check(stripline::one_of(stripline::log_formats()))
        ->capture_default_str();
    stripline::add_value(app_, "--log-level", log_level, "The least that is logged", "LEVEL")
        ->check(stripline::one_of(stripline::log_levels()))
        ->capture_default_str();
    stripline::add_value(
        app_, "--relay", relay,
        "Do nothing but listen there, and pass connections of other agents on to the "
        "server",
        "HOST:PORT");
    stripline::add_value(app_, "--drain-time", drain_s,
                         "SIGTERM lets what is being measured go on for this time", "TIME")
        ->transform(stripline::time_within({.least_s = 0, .most_s = 86400}))
        ->capture_default_str();
    app_.add_flag("--job", job, "End when there is no work, and before the job's end");
    stripline::add_value(app_, "--job-idle", job_idle_s, "Time without work after which it ends",
                         "TIME")
        ->transform(stripline::time_within({.least_s = 0.1, .most_s = 86400}))
        ->capture_default_str();
    stripline::add_value(app_, "--job-end", job_end_unix_s,
                         "When the job ends, in seconds since 1970 (default: SLURM_JOB_END_TIME)",
                         "SECONDS")
        ->transform(stripline::whole_number(1, uint64_t{1} << 40));
    configuration_.emplace(app_, stripline::ConfigurationNames{
                                     "STRIPLINE_AGENT_", {}, {{"server", "STRIPLINE_SERVER"}}});
  }

  CLI::App& app() { return app_; }
  stripline::Configuration& configuration() { return *configuration_; }

  stripline::Result<stripline::agent::AgentOptions> agent_options() const {
    stripline::agent::AgentOptions options;
    STRIPLINE_ASSIGN_OR_RETURN(options.servers, stripline::parse_servers(server));
    options.identity_file = identity.empty()
                                ? stripline::agent::default_identity_file(node).string()
                                : (identity == kNone ? "" : identity);
    options.node = node;
    options.cluster = cluster;
    options.worker = worker;
    options.models_folder = models_dir.empty()    ? stripline::writable_model_folder().string()
                            : models_dir == kNone ? ""
                                                  : models_dir;
    options.targets = targets;
    for (const std::string& one : installs) {
      STRIPLINE_RETURN_IF_ERROR(stripline::agent::add_folder(one, options.targets));
    }
    if (!installs.empty() && options.models_folder.empty()) {
      return stripline::Error(stripline::ErrorCode::invalid_argument,
                              "--install needs a --models-dir, where what is in force is kept");
    }
    options.version = stripline::program_version();
    options.drain_s = drain_s;
    if (!job) return options;
    options.stay.idle_s = job_idle_s;
    STRIPLINE_ASSIGN_OR_RETURN(const uint64_t end_unix_s, job_end());
    if (end_unix_s != 0) {
      options.stay.end_s =
          stripline::steady_seconds() + static_cast<double>(end_unix_s) - stripline::unix_seconds();
    }
    return options;
  }

  // As fabrics name them.
  std::vector<std::string> profile_files() const {
    std::vector<std::string> files;
    for (const std::string& file : profiles) files.push_back(std::filesystem::absolute(file));
    return files;
  }

  std::string server = "127.0.0.1:7411";
  std::string node;
  std::string cluster;
  std::string worker;
  std::vector<std::string> profiles;
  std::string identity;
  std::string models_dir;
  stripline::agent::TargetOptions targets;
  std::vector<std::string> installs;
  std::string enrolment;
  std::string relay;
  std::string log_format = "text";
  std::string log_level = "info";

 private:
  // When the job ends; 0: it does not say.
  stripline::Result<uint64_t> job_end() const {
    constexpr const char* kVariable = "SLURM_JOB_END_TIME";
    const char* text = std::getenv(kVariable);  // NOLINT(concurrency-mt-unsafe): before threads
    if (job_end_unix_s != 0 || text == nullptr || *text == '\0') return job_end_unix_s;
    const std::string value = text;
    if (const auto end_s = stripline::number_from_text<uint64_t>(value)) return *end_s;
    return stripline::Error(stripline::ErrorCode::invalid_argument,
                            std::string(kVariable) + " is not a number of seconds: '" + value +
                                "'; say when the job ends with --job-end");
  }

  double drain_s = 0;
  bool job = false;
  double job_idle_s = 60;
  uint64_t job_end_unix_s = 0;
  CLI::App app_;
  std::optional<stripline::Configuration> configuration_;
};

void reload(const std::vector<std::string>& command_line,
            const stripline::ServiceManager& manager) {
  warn_unless(manager.reloading());
  Invocation invocation;
  invocation.app().parse(std::vector<std::string>(command_line.rbegin(), command_line.rend()));
  stripline::Status read = invocation.configuration().settle();
  if (read.ok()) read = stripline::set_log_level(invocation.log_level);
  if (read.ok()) {
    spdlog::info("read the log level again: {}", invocation.log_level);
  } else {
    spdlog::error("the settings stay as they were: {}", read.error().message());
  }
  warn_unless(manager.ready("serving"));
}

int pass_on(const std::string& listen, const stripline::HostAndPort& server) {
  const auto address = stripline::parse_host_and_port(listen);
  if (!address.ok()) return fail(address.error().with_context("--relay"));
  auto relay = Relay::open(*address, server);
  if (!relay.ok()) return fail(relay.error());
  stoppable_relay = &*relay;
  struct sigaction action {};
  action.sa_handler = on_relay_signal;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  const auto manager = stripline::ServiceManager::from_environment();
  spdlog::info("passing connections to {} on to {}", relay->address().text(), server.text());
  warn_unless(manager.ready("relay of " + server.text()));
  relay->run();
  return stripline::kExitOk;
}

int serve(const Invocation& invocation, stripline::agent::AgentOptions options,
          const std::vector<std::string>& command_line) {
  const auto manager = stripline::ServiceManager::from_environment();
  if (!invocation.enrolment.empty()) {
    if (const stripline::Status enrolled = enroll(options, invocation.enrolment); !enrolled.ok()) {
      return fail(enrolled.error());
    }
  }
  auto description = stripline::agent::describe_node(options.worker, kDescribeTimeout_s,
                                                     invocation.profile_files());
  if (!description.ok()) return fail(description.error());
  if (const auto added = stripline::agent::add_targets(options.targets, *description);
      !added.ok()) {
    return fail(added.error());
  }
  spdlog::info("nodes/{}: {} experiments, {} fabrics", options.node,
               description->experiments_json.size(), description->fabrics.size());
  options.on_hang_up = [&] { reload(command_line, manager); };
  const std::string what = "nodes/" + options.node + " of " + stripline::text_of(options.servers);
  Agent agent(std::move(options), std::move(*description));
  obey_signals(agent);
  warn_unless(manager.ready(what));
  const int exit_code = agent.run();
  warn_unless(manager.stopping("ended"));
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  stripline::prepare_descriptors();
  Invocation invocation;
  if (const auto end = stripline::read_command_line(invocation.app(), argc, argv)) return *end;
  auto& configuration = invocation.configuration();
  if (const auto settled = configuration.settle(); !settled.ok()) return fail(settled.error());
  if (configuration.wants_print()) std::fputs(configuration.text().c_str(), stdout);
  auto options = invocation.agent_options();
  if (!options.ok()) return fail(options.error());
  if (!configuration.wants_start()) return stripline::kExitOk;
  if (const auto logging =
          stripline::start_logging(kProgram, invocation.log_format, invocation.log_level);
      !logging.ok()) {
    return fail(logging.error());
  }
  if (!invocation.relay.empty() && options->servers.size() > 1) {
    return fail(stripline::Error(stripline::ErrorCode::invalid_argument,
                                 "a relay passes on to one server; start one for each"));
  }
  if (!invocation.relay.empty()) return pass_on(invocation.relay, options->servers.front());
  return serve(invocation, std::move(*options), {argv + 1, argv + argc});
}
