// stripline-agent: the node daemon.

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <signal.h>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "agent/agent.h"
#include "agent/credentials.h"
#include "agent/description.h"
#include "agent/enrolment.h"
#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/pki/secret_file.h"
#include "base/pki/token.h"
#include "base/subprocess.h"

namespace {

using stripline::agent::Agent;

constexpr double kDescribeTimeout_s = 60;

// The agent that the signal handler stops; set before the handler is installed.
Agent* stoppable = nullptr;

void on_stop_signal(int /*signal*/) { stoppable->stop(); }

void stop_on_signals(Agent& agent) {
  stoppable = &agent;
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

int fail(const stripline::Error& error) {
  std::fprintf(stderr, "stripline-agent: error: %s\n", error.message().c_str());
  return stripline::exit_code_for(error.code());
}

constexpr const char* kNoIdentity = "none";
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
  const double now_s =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  if (stripline::agent::is_enrolled(options.identity_file, token, now_s)) {
    spdlog::info("nodes/{} is enrolled already, by '{}'", options.node, options.identity_file);
    return {};
  }
  STRIPLINE_RETURN_IF_ERROR(stripline::agent::enroll(options.server, token, options.node,
                                                     options.identity_file, kEnrolTimeout_s));
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
    "Environment:\n"
    "  STRIPLINE_SERVER   the server, unless --server is given\n"
    "  Everything else in the environment is passed on to the workers: set FI_* variables here.\n\n"
    "Exit codes:\n"
    "  0  stopped by SIGTERM or SIGINT while idle\n"
    "  2  wrong option, no such worker, or no token\n"
    "  3  the server speaks another version of the protocol, or refuses this agent or its token\n"
    "  4  the worker cannot describe this node\n"
    "  7  stopped while it was measuring: the run was ended and the server told\n"
    "  9  another agent holds this node's name\n\n"
    "Examples:\n"
    "  stripline-agent --server head:7411\n"
    "  stripline-agent --server head:7411 --enroll token.txt   # the first time, by TLS\n"
    "  srun --ntasks-per-node=1 stripline-agent --server head:7411\n"
    "  stripline-agent --server 127.0.0.1:7411 --node a   # two agents on one machine need two "
    "names\n";

}  // namespace

int main(int argc, char** argv) {
  stripline::prepare_descriptors();
  stripline::agent::AgentOptions options;
  std::string server = "127.0.0.1:7411";
  options.node = stripline::agent::default_node_name();
  options.worker =
      (std::filesystem::path(stripline::executable_folder()) / "stripline-worker").string();
  options.version = stripline::program_version();

  CLI::App app(kDescription, "stripline-agent");
  app.footer(kFooter);
  app.add_option("--server", server, "Address of the server")
      ->type_name("HOST:PORT")
      ->envname("STRIPLINE_SERVER")
      ->capture_default_str();
  app.add_option("--node", options.node,
                 "Name of this node: lower-case letters, digits, '.', '_', '-'; default: the "
                 "host's name")
      ->type_name("NAME")
      ->check([](const std::string& name) {
        return stripline::agent::is_node_name(name)
                   ? std::string()
                   : "'" + name + "' is no node name; it must match [a-z0-9][a-z0-9._-]{0,62}";
      })
      ->capture_default_str();
  app.add_option("--worker", options.worker, "The program that runs measurements")
      ->type_name("PATH")
      ->capture_default_str();
  std::string identity;
  app.add_option("--identity", identity,
                 "File with this node's key and certificate; none: show no certificate (default: "
                 "NAME.pem in ~/.local/share/stripline/nodes)")
      ->type_name("FILE");
  std::string enrolment;
  app.add_option("--enroll", enrolment,
                 "Become known to the server first, with the token in this file (mode 0600) or, "
                 "for -, on standard input; without effect when this was done before")
      ->type_name("FILE");
  bool quiet = false;
  app.add_flag("--quiet", quiet, "Log warnings and errors only");
  if (const auto end = stripline::read_command_line(app, argc, argv)) return *end;

  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("agent", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z stripline-agent[%P] %l: %v");
  spdlog::set_level(quiet ? spdlog::level::warn : spdlog::level::info);

  auto address = stripline::parse_host_and_port(server);
  if (!address.ok()) return fail(address.error());
  options.server = std::move(*address);
  options.identity_file = identity.empty()
                              ? stripline::agent::default_identity_file(options.node).string()
                          : identity == kNoIdentity ? ""
                                                    : identity;
  if (!enrolment.empty()) {
    if (const stripline::Status enrolled = enroll(options, enrolment); !enrolled.ok()) {
      return fail(enrolled.error());
    }
  }
  auto description = stripline::agent::describe_node(options.worker, kDescribeTimeout_s);
  if (!description.ok()) return fail(description.error());
  spdlog::info("nodes/{}: {} experiments, {} fabrics", options.node,
               description->experiments_json.size(), description->fabrics.size());

  Agent agent(std::move(options), std::move(*description));
  stop_on_signals(agent);
  return agent.run();
}
