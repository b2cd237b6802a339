// What agents and the server say to each other, as plain values: agents.proto without protobuf, so
// that the coordinator can be read, compiled and tested without gRPC.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/host_load.h"
#include "server/problem.h"

namespace stripline::server {

/// The protocol version this server speaks.
inline constexpr int kProtocolVersion = 1;

// From the agent.

struct Hello {
  std::string node;
  std::string instance_id;
  std::string agent_version;
  int protocol_min = 0;
  int protocol_max = 0;
  std::map<std::string, std::string> fingerprint;
  std::vector<std::string> fabrics;
  std::vector<std::string> experiments_json;
  std::string assignment;
  uint64_t fence = 0;
  double available_s = 0;  ///< 0: no end is known
  bool leaving = false;
  std::string cluster;  ///< empty: kDefaultCluster
  bool takes_models = false;
  std::map<std::string, std::string> models;  ///< By fabric, the first 12 digits of the sha256.
  uint32_t max_ranks = 0;                     ///< 0: not known, as of older agents.
};

struct Heartbeat {
  std::string assignment;
  uint64_t fence = 0;
  bool leaving = false;
  std::optional<HostLoad> host_load = {};  ///< none while it measures, and from older agents
};

struct GroupJoin {
  std::string assignment;
  uint64_t fence = 0;
  uint32_t rank = 0;
  std::string address;
};

struct SampleBatch {
  std::string assignment;
  uint64_t fence = 0;
  uint64_t seq = 0;
  std::string codec;
  std::string data;
  uint32_t points_done = 0;
  uint32_t points_total = 0;
};

enum class UpdateState { unspecified, running, finished, failed, cancelled };

struct AssignmentUpdate {
  std::string assignment;
  uint64_t fence = 0;
  UpdateState state = UpdateState::unspecified;
  std::string code;
  std::string message;
  std::map<std::string, std::string> facts;
  std::string experiment = {};  ///< The experiment whose point failed, if one did.
};

struct ModelAck {
  std::string version;
  bool applied = false;
  std::string reason;  ///< Why not.
};

struct FeedbackReport {
  std::string content;
};

/// What may follow Hello.
using AgentMessage =
    std::variant<Heartbeat, GroupJoin, SampleBatch, AssignmentUpdate, ModelAck, FeedbackReport>;

// To the agent.

struct HelloAck {
  int protocol = kProtocolVersion;
  double heartbeat_interval_s = 0;
  double reconnect_spread_s = 0;
};

struct AssignmentOrder {
  std::string name;
  uint64_t fence = 0;
  double lease_s = 0;
  std::shared_ptr<const std::string> assignment_json;  // megabytes, the same for all nodes
  std::vector<uint32_t> ranks;
  std::vector<std::string> rank_nodes;
  double join_timeout_s = 0;
  std::string job_id;
};

struct GroupReady {
  std::string assignment;
  uint64_t fence = 0;
  std::shared_ptr<const std::vector<std::string>> addresses;
};

struct CancelAssignment {
  std::string assignment;
  uint64_t fence = 0;
  std::string message;
};

struct SampleAck {
  std::string assignment;
  uint64_t fence = 0;
  uint64_t seq = 0;
};

struct ModelOffer {
  std::string version;
  std::string sha256;
  std::string label;
  std::string fabric;
  std::shared_ptr<const std::string> content;  // the same for all nodes
};

struct ModelWithdrawal {
  std::string fabric;
  std::string sha256;  ///< The first 12 digits.
  std::string reason;
};

using ServerMessage = std::variant<HelloAck, AssignmentOrder, GroupReady, CancelAssignment,
                                   SampleAck, ModelOffer, ModelWithdrawal>;

/// The server's end of a session's stream. Calls never block and may come from any thread; after
/// the stream has ended they do nothing.
class AgentLink {
 public:
  virtual ~AgentLink() = default;

  /// Queues a message; messages arrive in the order of the calls.
  virtual void send(ServerMessage message) = 0;

  /// Ends the stream with this reason after what was queued.
  virtual void close(const Problem& problem) = 0;
};

}  // namespace stripline::server
