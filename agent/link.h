// The gRPC stream to the server: one bidirectional Session call at a time over one channel of its
// own. A single thread serves it, asleep in the completion queue unless something happens (gRPC's
// callback interface would wake twice a second to see whether it may stop).
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "agent/messages.h"
#include "base/result.h"

namespace stripline::agent {

/// The call has ended, for whatever reason; open() may be called again.
struct LinkClosed {
  Error error;
  std::string reason;  ///< ErrorInfo.reason of the server, or empty
};
using LinkEvent = std::variant<ServerMessage, LinkClosed>;

/// Thread-safe except for open() and the destructor.
class Link {
 public:
  /// `server` is "host:port".
  explicit Link(std::string server);
  /// Ends the call and joins the thread.
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Readable when take_events() has something.
  int event_fd() const;
  std::vector<LinkEvent> take_events();

  /// Connects and starts a call with `hello` as its first message. The events of an earlier call
  /// that have not been taken are dropped. Connecting fails fast: LinkClosed follows.
  void open(const Hello& hello);
  /// Queues a message. Dropped when no call is open: a session begins with sending everything
  /// again.
  void send(const AgentMessage& message);
  /// Gives the call up at once; no event follows.
  void abandon();
  /// Tells the server that nothing more will come, after what is queued; LinkClosed follows.
  void finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stripline::agent
