// Agents' sessions: who is connected, and streams that have yet to say Hello. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/host_load.h"
#include "server/core/models/model_registry.h"
#include "server/core/sessions/active_run.h"
#include "server/core/sessions/agent_link.h"
#include "server/core/sessions/declarations.h"
#include "server/store/records.h"

namespace stripline::server {

/// An assignment at a node, until the agent says that it has ended.
struct Holding {
  RunKey run;
  uint64_t fence = 0;
  std::optional<double> cancel_deadline_s = std::nullopt;  ///< Cancelled, and to be ended by then.
};

struct Session {
  /// Asks the node to stop. It counts as busy until it answers; a session that does not is closed
  /// after a lease. Something stale that it names beside what it validly holds does not change
  /// that.
  void send_cancel(const RunKey& run, uint64_t fence, const std::string& why, double lease_s);
  /// All ranks of the run have joined: where they are.
  void send_ready(ActiveRun& active) const;
  /// The node works on this attempt, or is still ending it.
  bool holds(const RunKey& run, uint64_t fence) const;

  uint64_t id = 0;
  NodeRecord record;
  std::string instance_id;
  std::shared_ptr<AgentLink> link;
  std::shared_ptr<const Declared> declared;
  std::shared_ptr<const std::set<std::string>> fabrics;
  double last_heard_s = 0;
  std::optional<double> available_until_s;
  bool leaving = false;     ///< It gets no new runs.
  bool installing = false;  ///< It gets none until it has installed settings of another runtime.
  bool takes_models = false;
  uint32_t max_ranks = 0;  ///< That its node has room for; 0: not known.
  NodeModels models;
  std::optional<Holding> holding;
  std::optional<HostLoad> host_load;  ///< The last one reported.
};

class SessionTable {
 public:
  /// The session gets a number.
  Session& add(Session session);
  void erase(uint64_t id);
  void clear();

  size_t size() const { return sessions_.size(); }
  /// nullptr: it has been closed.
  Session* find(uint64_t id);
  /// The same, of a session that has just given a sign of life.
  Session* heard(uint64_t id);
  /// nullptr: no agent is connected from there.
  Session* of_node(const std::string& node);
  std::map<uint64_t, Session>& all() { return sessions_; }
  const std::map<uint64_t, Session>& all() const { return sessions_; }

  /// A stream has been opened, and is to say Hello by then. Deadlines only grow.
  void await_hello(const std::shared_ptr<AgentLink>& link, double deadline_s);
  /// It has said it.
  void has_said_hello(const std::shared_ptr<AgentLink>& link);
  /// The streams that have not in time; they are not waited for any more.
  std::vector<std::shared_ptr<AgentLink>> late_streams(double now_s);

  /// When an agent is next given up, unless it is heard of before. `silent_s`: how long one may be
  /// silent.
  std::optional<double> next_deadline_s(double silent_s) const;
  /// All of them get this much longer.
  void postpone(double longer_s);

 private:
  // A stream that has yet to say Hello.
  struct PendingStream {
    std::weak_ptr<AgentLink> link;
    double deadline_s = 0;
  };

  uint64_t next_id_ = 1;
  std::map<uint64_t, Session> sessions_;
  std::map<std::string, uint64_t> ids_;  // by node
  std::deque<PendingStream> pending_;    // by deadline
};

}  // namespace stripline::server
