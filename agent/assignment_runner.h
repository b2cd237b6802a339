// One assignment at one node as a state machine: starts the ranks of this node, brings them
// together with the others, passes work down and samples up, and ends in exactly one of finished,
// failed, cancelled. Does no I/O and reads no clock: every call takes the time in seconds and
// leaves actions to be taken (take_actions), which agent.cc carries out.
//
//   joining --(GroupReady)--> working --(all left and exited)--> draining --(all acked)--> finished
//      |                         |                                  |
//      +--(cancel)--> cancelling-+----------------------------------+--> cancelled
//      +--(death, failure, time)--> failing -----------------------------> failed
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "optimizer/experiment/experiment.h"
#include "optimizer/experiment/point_watch.h"
#include "proto/agent_protocol/messages.h"

namespace stripline::agent {

/// Start the worker of a rank with these variables added to its environment.
struct StartWorker {
  uint32_t rank = 0;
  std::map<std::string, std::string> environment;
};
/// Send a message of docs/worker-protocol.md.
struct TellWorker {
  uint32_t rank = 0;
  Json message;
};
/// SIGKILL.
struct KillWorker {
  uint32_t rank = 0;
};
struct TellServer {
  AgentMessage message;
};
using Action = std::variant<StartWorker, TellWorker, KillWorker, TellServer>;

class AssignmentRunner {
 public:
  enum class Phase { joining, working, cancelling, failing, draining, done };

  /// `node` is the name of this node, for messages. `address` is its IP address on the route to the
  /// server, empty if unknown: ranks on several nodes communicate from it over the fabrics that
  /// would take 127.0.0.1 if given none. A series above `max_series_bytes` fails the run: the
  /// server would refuse the batch that holds it.
  AssignmentRunner(Assignment assignment, std::string node, std::string address = "",
                   size_t max_series_bytes = size_t{3} << 20);

  /// Starts the first workers; on_time() starts the others, a few at a time. An assignment that
  /// cannot be read fails at once; whether it asks for what the node has is for order_check.h.
  void start(double now_s);

  /// In place of start(): the order is not carried out.
  void refuse(const Error& why);

  void on_start_failed(double now_s, uint32_t rank, const Error& error);
  /// What a rank's worker has written, docs/worker-protocol.md: its samples are sent as they came,
  /// all else is on_worker_message(), or on_worker_garbage() where it is not a message.
  void on_worker_line(double now_s, uint32_t rank, std::string_view line);
  void on_worker_message(double now_s, uint32_t rank, const Json& message);
  /// The channel brought something that is not the protocol.
  void on_worker_garbage(double now_s, uint32_t rank, const Error& error);
  /// Call it after the last message of the rank has been delivered.
  void on_worker_exit(double now_s, uint32_t rank, const ExitStatus& status);

  /// A look at all ranks that are alive; due when on_time() has made wants_look() true.
  void on_look(double now_s, const std::vector<experiment::Sight>& sights);
  bool wants_look() const { return wants_look_; }
  /// Points that this rank has begun: before its messages and its end are delivered.
  void on_begun(uint32_t rank, uint64_t begun);

  void on_group_ready(double now_s, const std::vector<std::string>& addresses);
  void on_ack(uint64_t seq);
  void on_cancel(double now_s, const std::string& message);
  /// The agent itself ends: ends the ranks like on_cancel, but reports `why` as a failure of this
  /// node, so that the run is given to another one.
  void on_agent_stop(double now_s, const std::string& why);

  /// True if it tunes another runtime: its worker is stripline-tune, and what runs on the host
  /// meanwhile are processes of that runtime.
  bool tunes() const;

  /// What else is known of the run, for its last update.
  void add_facts(std::map<std::string, std::string> facts) { facts_.merge(facts); }

  /// The session is up again: repeats what the server may have missed.
  void on_reconnected();

  /// Closes the batch under construction, and lets a worker go on that waits until its samples are
  /// sent. Call it when nothing more is waiting to be read.
  void flush();

  /// Call it when next_event_s() has come.
  void on_time(double now_s);
  std::optional<double> next_event_s() const;

  /// The actions since the last call, in order.
  std::vector<Action> take_actions();

  const AssignmentId& id() const { return assignment_.id; }
  Phase phase() const { return phase_; }
  bool done() const { return phase_ == Phase::done; }
  /// The last update, once done.
  const AssignmentUpdate& outcome() const { return outcome_; }

 private:
  struct Rank {
    std::string address;
    bool joined = false;
    bool left = false;
    bool alive = false;
    bool killed = false;  ///< by this agent: its end says nothing
    uint64_t begun = 0;   ///< points
    std::optional<double> kill_at_s;
  };
  /// The most telling of several failures wins: one rank's death makes its peers fail, too.
  struct Failure {
    int weight = 0;
    ErrorCode code = ErrorCode::internal;
    std::string message;
    std::string experiment = {};
  };

  void start_some();
  std::map<std::string, std::string> environment_of(uint32_t rank) const;
  uint32_t starting() const;
  std::optional<experiment::Point> point_at(uint64_t begun) const;
  void fail(double now_s, Failure failure);
  void begin_ending(double now_s, Phase phase, double grace_s, const Json& farewell);
  void settle();
  void finish(AssignmentUpdate::State state, ErrorCode code, const std::string& message,
              std::string experiment = "");
  void add_series(std::string_view series);
  void send_batch();
  void tell_all(const Json& message);
  void send(AgentMessage message) { actions_.emplace_back(TellServer{std::move(message)}); }
  void send_update(AssignmentUpdate::State state, std::string code, std::string message,
                   std::string experiment = "");
  std::string rank_name(uint32_t rank) const;
  bool any_alive() const;
  // Workers that have been started and have not joined: no more are started meanwhile, so that the
  // node can do other things, among them to hear that the run is cancelled.
  static constexpr uint32_t kMaxStarting = 16;
  bool may_start() const { return !unstarted_.empty() && starting() < kMaxStarting; }

  Assignment assignment_;
  std::string node_;
  experiment::Assignment work_;
  Json work_json_;
  Phase phase_ = Phase::joining;
  std::map<uint32_t, Rank> ranks_;
  std::deque<uint32_t> unstarted_;     ///< of them
  std::optional<double> deadline_s_;   ///< of the phase joining or working
  std::optional<double> next_look_s_;  ///< while working
  bool wants_look_ = false;
  std::optional<experiment::PointWatch> watch_;  ///< once they work
  std::optional<Failure> failure_;
  std::string cancel_message_;
  std::optional<std::string> agent_stop_;
  std::map<std::string, std::string> facts_;  ///< of the first rank that reported them
  bool ready_sent_ = false;
  bool waits_for_answer_ = false;  ///< rank 0's worker, until its samples are sent

  std::string batch_;  ///< JSON array under construction, without its closing bracket
  uint32_t points_done_ = 0;
  uint32_t points_total_ = 0;
  uint32_t points_reported_ = 0;  ///< with the last batch
  uint64_t last_seq_ = 0;
  std::deque<SampleBatch> batches_;  ///< sent, not acknowledged

  std::string address_;
  size_t max_series_bytes_;
  AssignmentUpdate outcome_;
  std::vector<Action> actions_;
};

}  // namespace stripline::agent
