// The nodes of a server under load: agents that share a thread, each with a certificate of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <poll.h>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/host_and_port.h"
#include "proto/agent_protocol/messages.h"
#include "tests/load/load_agent.h"

namespace stripline::server {
class Authority;
}

namespace stripline::load {

/// How long what is to happen soon is waited for.
inline constexpr double kPatience_s = 120;

/// Has as many points as a run sends.
inline constexpr const char* kSteadyExperiment = "load.steady";
/// Has 100,000 points, which are planned and not measured.
inline constexpr const char* kLargeExperiment = "load.large";

/// What nodes of the load say of themselves beside their names: what a real one does, and these
/// experiments. Ends the program if there is no worker to ask.
Hello node_description(uint32_t points_of_run);
/// The same of this node.
Hello named(Hello hello, const std::string& node);

/// The file in `folder` with a new certificate of the node.
std::filesystem::path new_identity(const server::Authority& authority,
                                   const std::filesystem::path& folder, const std::string& node);

class Cluster {
 public:
  /// Nodes n0, n1 ..., whose identities lie in `folder`. They do something while turn_until() or
  /// look_until() lasts.
  Cluster(const HostAndPort& server, const server::Authority& authority,
          const std::filesystem::path& folder, const Hello& hello, uint32_t agents,
          const Pace& pace);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster() = default;

  Seen& seen() { return seen_; }
  const Seen& seen() const { return seen_; }

  /// In at least their nth session: that the server has gone they notice later.
  bool all_live(uint64_t n) const;

  /// Lets the agents do what is due until the condition holds; false after the limit.
  template <typename Condition>
  bool turn_until(Condition condition, double limit_s) {
    const double end_s = steady_seconds() + limit_s;
    while (!condition()) {
      if (steady_seconds() >= end_s) return false;
      turn(end_s);
    }
    return true;
  }

  /// Asks now and then, while the agents do what is due, until it is true; false after kPatience_s.
  template <typename Look>
  bool look_until(Look look) {
    const double end_s = steady_seconds() + kPatience_s;
    do {
      turn_until([] { return false; }, 0.05);
      if (look()) return true;
    } while (steady_seconds() < end_s);
    return false;
  }

 private:
  // Once, and waits a little for the server.
  void turn(double end_s);

  Seen seen_;
  std::vector<std::unique_ptr<LoadAgent>> agents_;
  std::vector<pollfd> waiting_;  // for each of them
};

}  // namespace stripline::load
