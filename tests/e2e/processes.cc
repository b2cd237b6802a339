#include "tests/e2e/processes.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <signal.h>
#include <sstream>
#include <thread>
#include <unistd.h>
#include <utility>

namespace stripline::e2e {
namespace {

// What tests wait for a process to come up, at most; machines may be slow and shared.
constexpr double kStartLimit_s = 30;

UniqueFd create_file(const std::filesystem::path& path) {
  return UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
}

}  // namespace

std::string program(const std::string& name) {
  const char* bin = std::getenv("STRIPLINE_TEST_BIN");  // NOLINT(concurrency-mt-unsafe)
  return (bin != nullptr ? std::string(bin) : executable_folder()) + "/" + name;
}

TempFolder::TempFolder() {
  static std::atomic<int> count = 0;
  path_ = std::filesystem::temp_directory_path() /
          ("stripline-e2e-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
  std::filesystem::create_directories(path_);
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Program::Program(const TempFolder& folder, const std::string& name, std::vector<std::string> argv,
                 const std::map<std::string, std::string>& environment)
    : out_path_(folder / (name + ".out")), err_path_(folder / (name + ".err")) {
  const UniqueFd out = create_file(out_path_);
  const UniqueFd err = create_file(err_path_);
  SubprocessOptions options;
  options.argv = std::move(argv);
  options.environment = environment;
  options.stdout_fd = out.get();
  options.stderr_fd = err.get();
  auto process = Subprocess::spawn(options);
  if (process.ok()) process_.emplace(std::move(*process));
}

Finished Program::finish(double limit_s) {
  Finished finished;
  if (process_) {
    const auto status = process_->wait(limit_s);
    if (!status.ok()) {
      process_->terminate(0);
    } else if (status->signal == 0) {
      finished.exit_code = status->exit_code;
    }
  }
  finished.out = out();
  finished.err = err();
  return finished;
}

Finished run_program(std::vector<std::string> argv, double limit_s,
                     const std::map<std::string, std::string>& environment) {
  const TempFolder folder;
  return Program(folder, "program", std::move(argv), environment).finish(limit_s);
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> found;
  const std::string text = std::to_string(pid);
  std::ifstream in("/proc/" + text + "/task/" + text + "/children");
  for (pid_t child = 0; in >> child;) found.push_back(child);
  return found;
}

std::vector<pid_t> processes_of(const std::string& path) {
  std::vector<pid_t> pids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline");
    std::string command;
    std::getline(file, command, '\0');
    if (command == path) pids.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return pids;
}

std::filesystem::path find_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::filesystem::path file = std::filesystem::path(folder) / name;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

size_t lines_with(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(part) != std::string::npos) ++count;
  }
  return count;
}

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ServerProcess::ServerProcess(const TempFolder& folder, ServerSetup setup)
    : folder_(folder), setup_(std::move(setup)) {
  start();
}

void ServerProcess::start() {
  const std::filesystem::path port_file = folder_ / "port";
  std::filesystem::remove(port_file);
  std::vector<std::string> argv = setup_.prefix;
  argv.push_back(program("stripline-server"));
  if (setup_.dev) {
    argv.insert(argv.end(), {"--dev", "--listen", setup_.listen});
  } else {
    argv.insert(argv.end(), {"--insecure-listen", setup_.listen});
  }
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

void ServerProcess::restart() {
  setup_.listen = address_;
  start();
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
