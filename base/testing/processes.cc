#include "base/testing/processes.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <thread>
#include <unistd.h>
#include <utility>

namespace stripline {
namespace {

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
          ("stripline-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
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

size_t lines_with(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(part) != std::string::npos) ++count;
  }
  return count;
}

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

}  // namespace stripline
