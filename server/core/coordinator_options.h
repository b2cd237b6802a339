// How patient the server is with agents, and how much it takes upon itself.
#pragma once

#include <cstdint>
#include <string_view>

namespace stripline::server {

/// The owner of what the server does by itself.
inline constexpr std::string_view kServersOwn = "server";

struct CoordinatorOptions {
  double heartbeat_interval_s = 5;  ///< Sessions silent for three times as long are closed.
  double lease_s = 15;              ///< See Assignment.lease_s in agents.proto.
  double join_timeout_s = 20;       ///< See Assignment.join_timeout_s.
  /// Agents that worked on a run when the server ended have this much more time, once it has
  /// started again: they try to connect at most this far apart.
  double reconnect_s = 15;
  uint32_t max_failures = 3;  ///< A run lost or failed this many times fails its campaign.
  /// From the first failure of a run to its next attempt; twice as long after each further one.
  double retry_pause_s = 1;
  double max_wait_s = 7 * 86400;  ///< A campaign that waits for nodes for this long has failed.
  uint64_t max_nodes = 10'000;    ///< Names of nodes that are remembered.
  uint64_t max_campaigns = 1000;  ///< That have not ended.
  /// The same of one owner; 0: as many as of all. The server's own are not counted.
  uint64_t max_queued_per_owner = 100;
  double storage_retry_s = 5;  ///< What could not be stored is tried again after this long.
};

}  // namespace stripline::server
