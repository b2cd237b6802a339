// Between the plain messages (messages.h) and protobuf.
#pragma once

#include <optional>

#include "agent/messages.h"

namespace stripline::v1 {
class AgentMessage;
class ServerMessage;
}  // namespace stripline::v1

namespace stripline::agent {

v1::AgentMessage to_wire(const AgentMessage& message);

/// nullopt for a kind of message that this build does not know: a newer server may send it.
std::optional<ServerMessage> from_wire(const v1::ServerMessage& wire);

}  // namespace stripline::agent
