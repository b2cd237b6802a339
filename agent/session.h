// The life of the agent's session with the server as a state machine: when to connect, when to give
// up, when to say that one is alive, and what is worth a line in the log. Does no I/O, reads no
// clock: the caller passes the time and does what the steps say (agent.cc).
//
//   offline --(backoff over)--> greeting --(HelloAck)--> live
//      ^                           |                       |
//      +------(closed, silent)-----+-------(closed)--------+        --> refused (for good)
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "agent/backoff.h"
#include "base/result.h"

namespace stripline::agent {

/// The shortest interval of heartbeats: servers that want them more often get them at this one.
inline constexpr double kLeastHeartbeat_s = 0.01;

/// A server cannot keep agents away for longer.
inline constexpr double kLongestSpread_s = 30;

struct SessionLimits {
  Backoff::Limits backoff;
  /// How long a refusal that may pass is not taken for the last word: the session of an agent that
  /// was killed lives on at the server until its heartbeats are missed, and a server that starts
  /// with a new secret may be reached before the secret is read. The last attempt is made then.
  double refusal_patience_s = 60;
};

/// What the caller is to do now.
struct SessionStep {
  bool open_link = false;    ///< Connect, and send Hello.
  bool close_link = false;   ///< Give the connection up; a `closed` event is not expected for it.
  bool heartbeat = false;    ///< Send Heartbeat.
  bool became_live = false;  ///< The session is up: send what the server has not acknowledged.
  std::optional<std::string> log;  ///< One line per change, not per attempt.
  bool log_is_warning = false;
};

class Session {
 public:
  enum class State { offline, greeting, live, refused };

  /// `server` is for messages; `seed` feeds the jitter.
  Session(std::string server, const SessionLimits& limits, uint64_t seed);

  /// To be called at start, and again when next_event_s() has come.
  SessionStep on_time(double now_s);

  /// Something has come from the server.
  void on_received(double now_s) { last_received_s_ = now_s; }

  /// HelloAck arrived. A heartbeat interval that is not positive is treated as one second, one that
  /// would keep the agent busy as kLeastHeartbeat_s.
  /// `spread_s`: when the session is lost, a random time up to this long passes before the next, at
  /// most kLongestSpread_s, so that not all agents of a server come at once.
  SessionStep on_hello_ack(double now_s, int protocol, double heartbeat_interval_s,
                           double spread_s = 0);

  /// The link has ended. `reason` is the server's machine-readable one, or empty.
  SessionStep on_closed(double now_s, const Error& error, const std::string& reason);

  /// What Hello says has changed: this session is given up, and the next one begun at once.
  SessionStep renew(double now_s);

  /// When on_time() has something to do; nullopt: never (refused).
  std::optional<double> next_event_s() const;

  State state() const { return state_; }
  bool live() const { return state_ == State::live; }

  /// Why the server will not have this agent, when refused: the agent ends with it.
  const std::optional<Error>& refusal() const { return refusal_; }

 private:
  SessionStep lose(double now_s, const std::string& why, bool answered = false,
                   const std::string& for_how_long = "");

  std::string server_;
  SessionLimits limits_;
  Backoff backoff_;
  std::minstd_rand random_;
  State state_ = State::offline;
  double next_s_ = 0;
  double live_since_s_ = 0;
  double last_received_s_ = 0;
  double heartbeat_interval_s_ = 1;
  double spread_s_ = 0;
  bool reported_lost_ = false;
  std::optional<double> patience_end_s_;  // once it was refused for what may pass
  std::optional<Error> refusal_;
};

}  // namespace stripline::agent
