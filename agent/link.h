// The connection to the server: one gRPC session at a time over one socket. Has no thread of its
// own: the caller polls fd() and calls on_ready().
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "agent/connection.h"
#include "agent/server_address.h"
#include "base/result.h"
#include "proto/agent_protocol/messages.h"

namespace stripline::agent {

/// The session has ended, for whatever reason; open() may be called again.
struct LinkClosed {
  Error error;
  std::string reason;  ///< ErrorInfo.reason of the server, or empty
};
using LinkEvent = std::variant<ServerMessage, LinkClosed>;

class Link {
 public:
  /// Each session is opened with the next of `servers`: one that stands by turns agents away.
  /// `credentials` must outlive it.
  Link(std::vector<HostAndPort> servers, const Credentials& credentials);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// What to poll for; -1 when there is nothing to wait for. May change with every call.
  int fd() const;
  short poll_events() const;
  /// The descriptor is ready.
  void on_ready();

  /// True if anything has come from the server since the last call, be it a ping.
  bool take_received();

  /// The IP address from which this host reaches the server; empty without a session.
  std::string local_address() const;

  /// What has happened since the last call. To be asked for before waiting.
  std::vector<LinkEvent> take_events();

  /// Connects and starts a session with `hello` as its first message; an earlier one is given up.
  void open(const Hello& hello);
  /// Queues a message and sends what the socket takes. Dropped when no session is open: a new one
  /// begins with saying everything again.
  void send(const AgentMessage& message);
  /// True if all messages have been sent: what can wait is sent then, lest it pile up before a
  /// server that takes nothing.
  bool is_drained() const;
  /// Gives the session up at once; no event follows, and those not taken are dropped.
  void abandon();
  /// Tells the server that nothing more will come, after what is queued; LinkClosed follows.
  void finish();

 private:
  void pump();
  void close_if_ended();

  std::vector<HostAndPort> servers_;
  const Credentials& credentials_;
  size_t attempts_ = 0;
  std::unique_ptr<Connection> connection_;
  std::vector<LinkEvent> events_;
};

}  // namespace stripline::agent
