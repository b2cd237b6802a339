#include "agent/session.h"

#include <algorithm>
#include <utility>

#include "base/quantity.h"
#include "proto/agent_protocol/messages.h"

namespace stripline::agent {
namespace {

constexpr double kGreetingTimeout_s = 10;  // from connecting to HelloAck
// A session that lived at least this long ended by an accident: the backoff starts over.
constexpr double kStableAfter_s = 5;
// A server pings its sessions (gRPC's keepalive, every 20 s): one that sends nothing for this time
// hangs, though its kernel still acknowledges what it is sent.
constexpr double kSilenceTimeout_s = 60;

}  // namespace

Session::Session(std::string server, const SessionLimits& limits, uint64_t seed)
    : server_(std::move(server)),
      limits_(limits),
      backoff_(limits.backoff),
      random_(static_cast<std::minstd_rand::result_type>(seed)) {}

SessionStep Session::on_time(double now_s) {
  SessionStep step;
  if (state_ == State::refused || now_s < next_s_) return step;
  switch (state_) {
    case State::offline:
      state_ = State::greeting;
      next_s_ = now_s + kGreetingTimeout_s;
      step.open_link = true;
      return step;
    case State::greeting:
      step = lose(now_s, "it did not answer within " + exact_seconds_text(kGreetingTimeout_s));
      step.close_link = true;
      return step;
    case State::live:
      if (now_s - last_received_s_ >= kSilenceTimeout_s) {
        step = lose(now_s, "it sent nothing for " + exact_seconds_text(kSilenceTimeout_s));
        step.close_link = true;
        return step;
      }
      next_s_ = now_s + heartbeat_interval_s_;
      step.heartbeat = true;
      return step;
    case State::refused:
      return step;
  }
  return step;
}

SessionStep Session::on_hello_ack(double now_s, int protocol, double heartbeat_interval_s,
                                  double spread_s) {
  if (state_ != State::greeting) return {};
  SessionStep step;
  if (protocol < kProtocolMin || protocol > kProtocolMax) {
    state_ = State::refused;
    refusal_ =
        Error(ErrorCode::failed_precondition,
              "the server at " + server_ + " wants protocol version " + std::to_string(protocol) +
                  ", this agent speaks " + std::to_string(kProtocolMin) + " to " +
                  std::to_string(kProtocolMax) + "; install the agent that belongs to the server");
    step.close_link = true;
    return step;
  }
  state_ = State::live;
  live_since_s_ = now_s;
  last_received_s_ = now_s;
  heartbeat_interval_s_ =
      heartbeat_interval_s > 0 ? std::max(heartbeat_interval_s, kLeastHeartbeat_s) : 1;
  spread_s_ = spread_s > 0 ? std::min(spread_s, kLongestSpread_s) : 0;
  next_s_ = now_s + heartbeat_interval_s_;
  reported_lost_ = false;
  patience_end_s_.reset();
  step.became_live = true;
  step.log = "connected to the server at " + server_;
  return step;
}

SessionStep Session::on_closed(double now_s, const Error& error, const std::string& reason) {
  if (state_ != State::greeting && state_ != State::live) return {};
  const bool may_pass = reason == "NODE_IN_USE" || reason == "UNAUTHENTICATED";
  if (may_pass && !patience_end_s_) patience_end_s_ = now_s + limits_.refusal_patience_s;
  const bool patience_over = may_pass && now_s >= *patience_end_s_;
  if (reason == "PROTOCOL_VERSION" || reason == "PERMISSION_DENIED" ||
      error.code() == ErrorCode::invalid_argument || patience_over) {
    state_ = State::refused;
    refusal_ = error;
    return {};
  }
  if (!may_pass) {
    // A server that was away may know of other sessions when it is back.
    patience_end_s_.reset();
    return lose(now_s, error.message(), !reason.empty());
  }
  SessionStep step =
      lose(now_s, error.message(), true, ", for " + exact_seconds_text(limits_.refusal_patience_s));
  next_s_ = std::min(next_s_, *patience_end_s_);
  return step;
}

// `answered`: it is the server that ended the session, and said why. `for_how_long` says until when
// the agent tries again (", for 60 s"); empty: it does so without end.
SessionStep Session::lose(double now_s, const std::string& why, bool answered,
                          const std::string& for_how_long) {
  if (state_ == State::live && now_s - live_since_s_ >= kStableAfter_s) backoff_.reset();
  const bool was_live = state_ == State::live;
  state_ = State::offline;
  const auto random = [&] { return std::generate_canonical<double, 32>(random_); };
  next_s_ = now_s + backoff_.next(random());
  if (was_live) next_s_ += spread_s_ * random();
  SessionStep step;
  if (!reported_lost_) {
    reported_lost_ = true;
    step.log_is_warning = true;
    const std::string what = was_live   ? "lost the server at " + server_
                             : answered ? "the server at " + server_ + " turned this agent away"
                                        : "cannot reach the server at " + server_;
    step.log = what + ": " + why + "; trying again, at most " +
               exact_seconds_text(limits_.backoff.max_s) + " apart" + for_how_long;
  }
  return step;
}

SessionStep Session::renew(double now_s) {
  SessionStep step;
  if (state_ != State::live) return step;
  state_ = State::offline;
  next_s_ = now_s;
  step.close_link = true;
  step.log =
      "facts of this node have changed: beginning another session with the server at " + server_;
  return step;
}

std::optional<double> Session::next_event_s() const {
  if (state_ == State::refused) return std::nullopt;
  return next_s_;
}

}  // namespace stripline::agent
