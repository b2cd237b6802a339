// The server's end of an agent's session, without gRPC, so that the core can be read, compiled and
// tested without it.
#pragma once

#include "proto/agent_protocol/messages.h"
#include "server/problem.h"

namespace stripline::server {

/// Calls never block and may come from any thread; after the stream has ended they do nothing.
class AgentLink {
 public:
  virtual ~AgentLink() = default;

  /// Queues a message; messages arrive in the order of the calls.
  virtual void send(ServerMessage message) = 0;

  /// Ends the stream with this reason after what was queued.
  virtual void close(const Problem& problem) = 0;
};

}  // namespace stripline::server
