#include "tests/e2e/processes.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <signal.h>
#include <sstream>
#include <sys/stat.h>
#include <utility>

namespace stripline::e2e {
namespace {

// What tests wait for a process to come up, at most; machines may be slow and shared.
constexpr double kStartLimit_s = 30;

}  // namespace

std::string initialise(const TempFolder& folder, const std::vector<std::string>& options) {
  for (const char* name : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"}) {
    ::setenv(name, (folder / name).c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  std::vector<std::string> argv = {program("stripline-server"), "init", "--data-dir",
                                   (folder / "data").string()};
  argv.insert(argv.end(), options.begin(), options.end());
  const Finished init = run_program(std::move(argv));
  // No secret is printed, where a shell or a log would keep it.
  const std::filesystem::path file = folder / "data" / "node.token";
  const std::string command = " --enroll " + file.string() + "\n";
  const std::string text = read_file(file);
  const std::string token = text.substr(0, text.find('\n'));
  const bool is_told = (init.out + init.err).find(token) != std::string::npos;
  if (init.exit_code != 0 || is_told || !init.out.ends_with(command)) return "";
  return token;
}

std::string secret_file(const TempFolder& folder, const std::string& name,
                        const std::string& text) {
  std::ofstream(folder / name) << text << "\n";
  ::chmod((folder / name).c_str(), 0600);
  return (folder / name).string();
}

ServerProcess::ServerProcess(const TempFolder& folder, ServerSetup setup)
    : folder_(folder), setup_(std::move(setup)) {
  if (setup_.door != Door::tls) {
    // Where it puts its token, and others of this test look for it.
    ::setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  start();
}

void ServerProcess::start() {
  const std::filesystem::path port_file = folder_ / "port";
  std::filesystem::remove(port_file);
  std::vector<std::string> argv = setup_.prefix;
  argv.push_back(program("stripline-server"));
  if (setup_.door == Door::own_user) argv.emplace_back("--dev");
  argv.emplace_back(setup_.door == Door::anyone ? "--insecure-listen" : "--listen");
  argv.push_back(setup_.listen);
  argv.insert(argv.end(),
              {"--data-dir", (folder_ / "data").string(), "--port-file", port_file.string()});
  argv.insert(argv.end(), setup_.options.begin(), setup_.options.end());
  program_.emplace(folder_, "server" + std::to_string(starts_++), argv);
  eventually([&] { return std::filesystem::exists(port_file); }, kStartLimit_s);
  std::istringstream(read_file(port_file)) >> address_;
}

void ServerProcess::kill() {
  program_->process().signal(SIGKILL);
  (void)program_->finish(kStartLimit_s);
}

int ServerProcess::stop() {
  program_->process().signal(SIGTERM);
  return program_->finish(kStartLimit_s).exit_code;
}

void ServerProcess::restart() {
  setup_.listen = address_;
  start();
}

std::unique_ptr<Program> start_agent(const TempFolder& folder, const std::string& server,
                                     const std::string& node,
                                     const std::vector<std::string>& options) {
  std::vector<std::string> argv{program("stripline-agent"), "--server", server, "--node", node};
  argv.insert(argv.end(), options.begin(), options.end());
  return std::make_unique<Program>(folder, "agent-" + node, argv);
}

AgentProcess::AgentProcess(const TempFolder& folder, const std::string& server,
                           const std::string& node, const std::vector<std::string>& prefix,
                           const std::map<std::string, std::string>& environment)
    : program_(
          folder, "agent-" + node,
          [&] {
            std::vector<std::string> argv = prefix;
            argv.insert(argv.end(),
                        {program("stripline-agent"), "--server", server, "--node", node});
            return argv;
          }(),
          environment) {
  eventually([&] { return log().find("connected to the server") != std::string::npos; },
             kStartLimit_s);
}

void AgentProcess::kill() {
  program_.process().signal(SIGKILL);
  (void)program_.finish(kStartLimit_s);
}

Finished cli(const std::string& server, const std::vector<std::string>& arguments, double limit_s) {
  std::vector<std::string> argv = {program("stripline"), "--server", server};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_program(std::move(argv), limit_s);
}

std::vector<Json> cli_json(const std::string& server, const std::vector<std::string>& arguments) {
  std::vector<std::string> all = arguments;
  all.emplace_back("--json");
  const Finished finished = cli(server, all);
  std::vector<Json> objects;
  std::istringstream lines(finished.out);
  for (std::string line; finished.exit_code == 0 && std::getline(lines, line);) {
    const auto json = parse_json(line, "output of stripline");
    if (json.ok()) objects.push_back(*json);
  }
  return objects;
}

bool nodes_become_idle(const std::string& server, const std::vector<std::string>& nodes,
                       double limit_s) {
  return eventually(
      [&] {
        const std::vector<Json> known = cli_json(server, {"nodes"});
        return std::all_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
          return std::any_of(known.begin(), known.end(), [&](const Json& json) {
            return json.value("name", "") == "nodes/" + node && json.value("state", "") == "IDLE";
          });
        });
      },
      limit_s);
}

}  // namespace stripline::e2e
