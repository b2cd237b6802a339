// What an agent and its server say to each other, as plain values: the contents of agents.proto
// without protobuf, so that both sides can be read, built and tested without it. wire.h converts.
// Times are seconds. What is large, and kept for sending again or sent to many nodes, is shared;
// the pointers of a message are never null.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/host_load.h"

namespace stripline {

/// The versions of the session protocol that agents of this build speak; its servers speak the
/// last.
inline constexpr int kProtocolMin = 1;
inline constexpr int kProtocolMax = 1;

/// An assignment as given out once: the pair that every message about it carries.
struct AssignmentId {
  std::string name;    ///< "campaigns/{campaign}/runs/{run}"; empty: none
  uint64_t fence = 0;  ///< grows each time the assignment is given out
  bool operator==(const AssignmentId&) const = default;
};

// --- agent to server -----------------------------------------------------------------------------

/// The agent's identity and abilities; the first message of every session.
struct Hello {
  std::string node;  ///< without "nodes/"
  /// Constant until the agent ends: tells a reconnect from a second agent.
  std::string instance_id;
  std::string agent_version;
  std::map<std::string, std::string> fingerprint;
  std::vector<std::string> fabrics;
  std::vector<std::string> experiments_json;
  AssignmentId assignment;   ///< what it still works on after a reconnect
  double available_s = 0;    ///< it may measure for this long; 0: no end is known
  bool leaving = false;      ///< it wants no new runs
  std::string cluster = {};  ///< empty: the server's default
  /// It installs models; what it has, by fabric: the first 12 digits of the sha256.
  std::optional<std::map<std::string, std::string>> models = {};
  uint32_t max_ranks = 0;  ///< that it has room for; 0: not known
  /// It wants no new runs until a heartbeat says otherwise: settings of another runtime are being
  /// installed, or taken away.
  bool installing = false;
  int protocol_min = kProtocolMin;
  int protocol_max = kProtocolMax;
};

/// "I am alive"; renews the lease of the assignment.
struct Heartbeat {
  AssignmentId assignment;
  bool leaving = false;
  std::optional<HostLoad> host_load = {};  ///< while nothing is measured
  bool installing = false;                 ///< as in Hello, now
};

/// A rank has opened its endpoint.
struct GroupJoin {
  AssignmentId assignment;
  uint32_t rank = 0;
  std::string address;  ///< opaque here: the text that the worker sent
};

/// Samples of rank 0, sent at least once until acknowledged.
struct SampleBatch {
  AssignmentId assignment;
  uint64_t seq = 0;                         ///< 1, 2, 3, ... within a fence
  std::shared_ptr<const std::string> data;  ///< a JSON array of series
  uint32_t points_done = 0;
  uint32_t points_total = 0;
  std::string codec = "json";
};

/// The life of an assignment at this node.
struct AssignmentUpdate {
  enum class State { unspecified, running, finished, failed, cancelled };
  AssignmentId assignment;
  State state = State::unspecified;
  std::string code;  ///< an ErrorCode's name, when failed
  std::string message;
  std::map<std::string, std::string> facts = {};  ///< of its ranks, as far as they are known
  std::string experiment = {};  ///< whose point was being measured, if that is what failed
};

/// A new certificate is asked for.
struct RenewCertificate {
  std::string request_pem;
};

/// The answer to ModelOffer.
struct ModelAck {
  std::string version;
  bool applied = false;
  std::string reason = {};  ///< why not
};

/// What a run of this node saw of the model that it used.
struct FeedbackReport {
  std::string content;
};

using AgentMessage = std::variant<Hello, Heartbeat, GroupJoin, SampleBatch, AssignmentUpdate,
                                  RenewCertificate, ModelAck, FeedbackReport>;

// --- server to agent -----------------------------------------------------------------------------

struct HelloAck {
  int protocol = kProtocolMax;
  double heartbeat_interval_s = 0;  ///< at least this often
  double reconnect_spread_s = 0;    ///< after its loss, a random time up to this long is waited
};

/// One run of a campaign: which ranks to start here, and what they measure.
struct Assignment {
  AssignmentId id;
  double lease_s = 0;
  std::shared_ptr<const std::string> assignment_json;  ///< experiment::Assignment in its JSON form
  std::vector<uint32_t> ranks;                         ///< of this node
  std::vector<std::string> rank_nodes;
  double join_timeout_s = 0;
  std::string job_id;
};

/// Every rank of the group has joined.
struct GroupReady {
  AssignmentId assignment;
  std::shared_ptr<const std::vector<std::string>> addresses;  ///< by rank
};

struct CancelAssignment {
  AssignmentId assignment;
  std::string message;
};

/// Everything up to `seq` is stored.
struct SampleAck {
  AssignmentId assignment;
  uint64_t seq = 0;
};

/// The answer to RenewCertificate.
struct NewCertificate {
  std::string certificate_pem;
};

/// A version that programs of this node are to use over a fabric.
struct ModelOffer {
  std::string version;  ///< "models/{model}/versions/{version}"
  std::string sha256;
  std::string label;
  std::string fabric;
  std::shared_ptr<const std::string> content;  ///< the file; empty: it is there
};

/// A version that programs of this node are not to use any more, though there is no other.
struct ModelWithdrawal {
  std::string fabric;
  std::string sha256;  ///< the first 12 digits
  std::string reason;
};

using ServerMessage = std::variant<HelloAck, Assignment, GroupReady, CancelAssignment, SampleAck,
                                   NewCertificate, ModelOffer, ModelWithdrawal>;

}  // namespace stripline
