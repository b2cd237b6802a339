// Callers that a server has beside its agents: browsers that look at pages, and one attacker of
// each kind of caller. Each is a few threads of this process, of lower priority than its agents:
// their processor time would be that of other hosts. All but agents come from addresses of their
// own (127.0.0.0/8), as the server counts by address.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/host_and_port.h"
#include "proto/agent_protocol/messages.h"
#include "tests/load/worst_viewer.h"

namespace stripline::load {

/// Where the server is, and what callers show to it.
struct Visited {
  HostAndPort agents;    ///< the port of gRPC
  int pages_port = 0;    ///< TLS
  int metrics_port = 0;  ///< plain text
  std::string authority_pem;
  std::vector<std::string> browser_secrets;  ///< of viewers; one browser for each
  std::string viewer_secret;
  std::string operator_secret;
  std::filesystem::path node_identity;  ///< of the node `hello` names
  Hello hello;
  /// Two campaigns with many measured points: "c1", "c2".
  std::array<std::string, 2> large_campaigns;
  /// What they measured.
  std::string measured_experiment;
  /// An experiment of many points, which the operator asks to be planned.
  std::string large_experiment;
};

/// An answer that a browser has had.
struct PageAnswer {
  double at_s = 0;    ///< on the steady clock
  double took_s = 0;  ///< from its request on
};

/// What browsers saw.
struct PageLoads {
  std::vector<PageAnswer> answers;
  uint64_t deferred = 0;              ///< asked to come back: 429, or 503 with Retry-After
  uint64_t streamed = 0;              ///< events, and signs of life, of their streams
  std::vector<std::string> failures;  ///< the first few: path and status
  uint64_t failed = 0;
};

/// The kinds of callers. A user of the server's host is not among them: what he can try is not a
/// call.
enum class Attacker { stranger, node, viewer, operating, page };
inline constexpr std::array kAttackers = {Attacker::stranger, Attacker::node, Attacker::viewer,
                                          Attacker::operating, Attacker::page};
const char* name_of(Attacker attacker);

class Visitors {
 public:
  explicit Visitors(Visited visited);
  /// Stops.
  ~Visitors();
  Visitors(const Visitors&) = delete;
  Visitors& operator=(const Visitors&) = delete;

  void begin_browsers();
  void begin(Attacker attacker);
  /// Returns when all have ended.
  void stop();

  /// After stop().
  const PageLoads& page_loads() const { return page_loads_; }
  /// How often an attacker has tried all that it tries.
  uint64_t rounds(Attacker attacker) const {
    if (attacker == Attacker::viewer) return viewer_.rounds();
    return rounds_[static_cast<size_t>(attacker)];
  }

 private:
  void browse(const std::stop_token& stop, size_t browser);
  void follow(const std::stop_token& stop, size_t browser);
  void attack_as_stranger(const std::stop_token& stop);
  void attack_as_node(const std::stop_token& stop);
  void attack_as_operator(const std::stop_token& stop);
  void attack_as_page(const std::stop_token& stop);
  void count_round(Attacker attacker) { ++rounds_[static_cast<size_t>(attacker)]; }
  // The campaign that a browser has seen last.
  std::string newest();

  const Visited visited_;
  WorstViewer viewer_{visited_, [this] { return newest(); }};
  std::mutex mutex_;  // of page_loads_ and newest_
  PageLoads page_loads_;
  std::string newest_;  // campaign that a browser has seen last: "c7"
  std::array<std::atomic<uint64_t>, kAttackers.size()> rounds_{};
  std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace stripline::load
