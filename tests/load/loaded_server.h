// A real server of this host and its nodes, which are of this process: what every load begins with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/testing/processes.h"
#include "proto/agent_protocol/messages.h"
#include "tests/load/administrator.h"
#include "tests/load/cluster.h"
#include "tests/load/load_agent.h"
#include "tests/load/server_under_test.h"

namespace stripline::load {

/// What is asked for.
struct LoadOptions {
  uint32_t agents = 100;
  uint32_t runs = 0;  ///< at once; 0: one for 25 agents
  double seconds = 10;
  double samples_per_s = 0;  ///< in all; 0: 20 for each agent
  uint32_t browsers = 50;    ///< of a soak
  Pace pace;
};

class LoadedServer {
 public:
  struct Setting {
    std::vector<std::string> server_options;
    double run_s = 0;  ///< how long a run measures
    /// Called with the database before the server starts on it.
    std::function<Status(const std::filesystem::path& database)> fill = nullptr;
  };

  /// Starts the server, and makes its agents. Ends the program if it cannot.
  LoadedServer(const LoadOptions& options, Setting setting);

  ServerUnderTest& server() { return server_; }
  const Administrator& administrator() const { return *administrator_; }
  Cluster& cluster() { return *cluster_; }
  Seen& seen() { return cluster_->seen(); }
  const Hello& description() const { return description_; }
  /// A file with a new certificate of this node.
  std::filesystem::path identity_of(const std::string& node) const;
  uint32_t points_of_run() const { return points_of_run_; }
  /// The size of the database with its log.
  uint64_t stored_bytes() const;

  /// What has been used up to now; processor time of the server, and of the agents here.
  struct Spent {
    double at_s = 0;
    double server_s = 0;
    double here_s = 0;
  };
  Spent spent() const;
  /// Prints what was used since.
  void print(const char* what, const Spent& since) const;

 private:
  std::filesystem::path data() const { return folder_ / "data"; }

  TempFolder folder_;
  ServerUnderTest server_;
  uint32_t points_of_run_;
  Hello description_;
  std::optional<Administrator> administrator_;
  std::optional<Cluster> cluster_;
};

}  // namespace stripline::load
