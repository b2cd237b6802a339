// Real processes for end-to-end tests: a server, agents, the command. Everything is bounded in time
// and gone when its object is.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/subprocess.h"

namespace stripline::e2e {

/// The path of a program of this build.
std::string program(const std::string& name);

/// A folder that is removed with its object.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& path);

/// How a program ended and what it wrote.
struct Finished {
  int exit_code = -1;  ///< -1: it had to be killed, or a signal did
  std::string out;
  std::string err;
};

/// A running program whose output goes to files.
class Program {
 public:
  Program(const TempFolder& folder, const std::string& name, std::vector<std::string> argv,
          const std::map<std::string, std::string>& environment = {});
  Subprocess& process() { return *process_; }
  std::string out() const { return read_file(out_path_); }
  std::string err() const { return read_file(err_path_); }
  /// Waits for its end; kills it after the limit.
  Finished finish(double limit_s);

 private:
  std::filesystem::path out_path_;
  std::filesystem::path err_path_;
  std::optional<Subprocess> process_;
};

/// Runs a program to its end.
Finished run_program(std::vector<std::string> argv, double limit_s = 60,
                     const std::map<std::string, std::string>& environment = {});

/// The ids of a process's children.
std::vector<pid_t> children_of(pid_t pid);

/// The ids of all processes that were started as `path`.
std::vector<pid_t> processes_of(const std::string& path);

/// The file that a shell would run for this name; empty if it is not in PATH.
std::filesystem::path find_in_path(const std::string& name);

/// Lines of `text` that contain `part`.
size_t lines_with(const std::string& text, const std::string& part);

/// Waits until `condition` holds; whether it did within the limit.
template <typename Condition>
bool eventually(Condition condition, double limit_s);

/// Naps that `eventually` takes.
void nap();
double steady_seconds();

template <typename Condition>
bool eventually(Condition condition, double limit_s) {
  const double end = steady_seconds() + limit_s;
  while (!condition()) {
    if (steady_seconds() > end) return false;
    nap();
  }
  return true;
}

/// Options of a server under test; short times, so that losses are noticed soon.
struct ServerSetup {
  std::vector<std::string> prefix;  ///< e.g. {"ip", "netns", "exec", "a"}
  std::string listen = "127.0.0.1:0";
  bool dev = true;
  std::vector<std::string> options = {"--heartbeat", "0.3", "--lease", "2", "--join-timeout", "15"};
};

class ServerProcess {
 public:
  ServerProcess(const TempFolder& folder, ServerSetup setup);

  /// "host:port"; empty when it did not start.
  const std::string& address() const { return address_; }
  void kill();  ///< SIGKILL
  /// Starts again on the same port and database.
  void restart();
  std::string log() const { return program_->err(); }

 private:
  void start();

  const TempFolder& folder_;
  ServerSetup setup_;
  std::string address_;
  int starts_ = 0;
  std::optional<Program> program_;
};

class AgentProcess {
 public:
  AgentProcess(const TempFolder& folder, const std::string& server, const std::string& node,
               const std::vector<std::string>& prefix = {},
               const std::map<std::string, std::string>& environment = {});
  pid_t pid() { return program_.process().pid(); }
  /// The processes of its ranks.
  std::vector<pid_t> workers() { return children_of(pid()); }
  void kill();  ///< SIGKILL
  std::string log() const { return program_.err(); }

 private:
  Program program_;
};

/// `stripline --server SERVER ARGUMENTS...` to its end.
Finished cli(const std::string& server, const std::vector<std::string>& arguments,
             double limit_s = 60);

/// `stripline --server SERVER --json ARGUMENTS...`: the objects it printed. Empty if it failed.
std::vector<Json> cli_json(const std::string& server, const std::vector<std::string>& arguments);

/// Whether all of these nodes are idle within the limit.
bool nodes_become_idle(const std::string& server, const std::vector<std::string>& nodes,
                       double limit_s);

}  // namespace stripline::e2e
