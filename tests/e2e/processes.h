// Real processes for end-to-end tests: a server, agents, the command. Everything is bounded in time
// and gone when its object is.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/testing/processes.h"

namespace stripline::e2e {

/// The callers that get into a server under test, and how.
enum class Door {
  own_user,  ///< --dev
  anyone,    ///< --insecure-listen
  tls,       ///< whoever initialise() and tokens let in
};

/// Options of a server under test; short times, so that losses are noticed soon.
struct ServerSetup {
  std::vector<std::string> prefix;  ///< e.g. {"ip", "netns", "exec", "a"}
  std::string listen = "127.0.0.1:0";
  Door door = Door::own_user;
  std::vector<std::string> options = {"--heartbeat", "0.3", "--lease", "2", "--join-timeout", "15"};
};

/// `stripline-server init` for the server of this folder, with homes in it for what programs keep.
/// Returns the token that enrols a first agent, which is in `data/node.token` as the
/// administrator's is in `data/admin.token`; empty if it failed, or printed a token.
std::string initialise(const TempFolder& folder, const std::vector<std::string>& options = {});

/// A file with a secret, which is its owner's only.
std::string secret_file(const TempFolder& folder, const std::string& name, const std::string& text);

class ServerProcess {
 public:
  ServerProcess(const TempFolder& folder, ServerSetup setup);

  /// "host:port"; empty when it did not start.
  const std::string& address() const { return address_; }
  pid_t pid() { return program_->process().pid(); }
  void signal(int number) { program_->process().signal(number); }
  void kill();  ///< SIGKILL
  int stop();   ///< SIGTERM; returns the exit code, -1 if it did not end
  bool running() { return !program_->process().poll(); }
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

/// `stripline-agent` that may not be let in, or end by itself.
std::unique_ptr<Program> start_agent(const TempFolder& folder, const std::string& server,
                                     const std::string& node,
                                     const std::vector<std::string>& options);

/// An agent that has connected.
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

/// True if all of these nodes are idle within the limit.
bool nodes_become_idle(const std::string& server, const std::vector<std::string>& nodes,
                       double limit_s);

}  // namespace stripline::e2e
