// The server's side of agents' sessions (agents.proto says what each message means). What agents
// say is noted at once; what follows from it is for CampaignSteps.
//
// Thread-safe: all calls may come from any thread; none waits for an agent.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/core/core_state.h"
#include "server/core/sessions/declarations.h"
#include "server/core/sessions/run_orders.h"
#include "server/core/sessions/sample_intake.h"

namespace stripline::server {

class AgentSessions {
 public:
  /// Takes what a run saw of a model, from this node.
  using OnFeedback = std::function<void(const std::string& node, const FeedbackReport& report)>;

  /// All must outlive it. `on_feedback` is called without locks.
  AgentSessions(CoreState& state, RunOrders& orders, ModelRegistry& models, SampleIntake& samples,
                OnFeedback on_feedback);

  /// A stream has been opened. It is closed if its Hello takes longer than a session may be silent.
  void await_hello(const std::shared_ptr<AgentLink>& link);
  /// A stream's Hello. On success HelloAck has been sent. Problems: NODE_IN_USE, PROTOCOL_VERSION,
  /// INVALID_FIELD, TOO_MANY_NODES.
  Answer<uint64_t> open_session(const Hello& hello, std::shared_ptr<AgentLink> link);
  /// A later message, of a kind that the door does not answer itself; ignored when the session has
  /// been closed in between.
  void receive(uint64_t session, const AgentMessage& message);
  /// The stream has ended. Leases go on until they run out.
  void close_session(uint64_t session);
  /// Connected ones to which models of this fabric are offered.
  std::vector<std::string> nodes_for_models(const std::string& fabric);
  /// Ends all sessions: the server stops.
  void close_all() STRIPLINE_EXCLUDES(state_.mutex);

 private:
  std::optional<Problem> check_hello(const Hello& hello, Session& session);
  std::optional<Problem> check_room(const std::string& node) STRIPLINE_REQUIRES(state_.mutex);
  void note_identity(const NodeRecord& now) STRIPLINE_REQUIRES(state_.mutex);
  double reconnect_spread_s() const STRIPLINE_REQUIRES(state_.mutex);
  void resume_assignment(const Hello& hello, Session& session) STRIPLINE_REQUIRES(state_.mutex);

  bool handle(Session& session, const Heartbeat& heartbeat) STRIPLINE_REQUIRES(state_.mutex);
  bool handle(Session& session, const GroupJoin& join) STRIPLINE_REQUIRES(state_.mutex);
  bool handle(Session& session, const AssignmentUpdate& update) STRIPLINE_REQUIRES(state_.mutex);
  bool handle(Session& session, const ModelAck& ack) STRIPLINE_REQUIRES(state_.mutex);
  void send_cancel(Session& session, const RunKey& run, uint64_t fence, const std::string& why)
      STRIPLINE_REQUIRES(state_.mutex);
  void note_ready(ActiveRun& active) STRIPLINE_REQUIRES(state_.mutex);
  Status note_slow(const RunKey& run, const std::string& message) STRIPLINE_REQUIRES(state_.mutex);
  void receive_feedback(uint64_t session, const FeedbackReport& report);

  CoreState& state_;
  RunOrders& orders_;
  ModelRegistry& models_;
  SampleIntake& samples_;
  const OnFeedback on_feedback_;
  Declarations declarations_;
};

}  // namespace stripline::server
