// Between the plain messages (messages.h) and protobuf, for both sides of a session. Thread-safe.
#pragma once

#include <optional>

#include "proto/agent_protocol/messages.h"

namespace stripline::v1 {
class AgentMessage;
class ServerMessage;
}  // namespace stripline::v1

namespace stripline {

v1::AgentMessage to_wire(const AgentMessage& message);
v1::ServerMessage to_wire(const ServerMessage& message);

/// nullopt for a kind of message that this build does not know: a newer release may send it. What
/// is large is moved out of `wire`.
std::optional<AgentMessage> from_wire(v1::AgentMessage&& wire);
std::optional<ServerMessage> from_wire(v1::ServerMessage&& wire);

}  // namespace stripline
