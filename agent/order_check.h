// Checks that an order asks for nothing but what this node has offered. Whoever answers at the
// server's address gives orders: what they say reaches the environment of workers, names of files,
// and the host's memory. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/description.h"
#include "base/memory_limits.h"
#include "base/result.h"
#include "proto/agent_protocol/messages.h"

namespace stripline::agent {

/// What this host has left when the order comes.
struct Room {
  MemoryLimits memory;
  std::optional<uint64_t> shared_bytes;  ///< of /dev/shm; nullopt: it is not there

  static Room read();
};

/// Errors: failed_precondition for a fabric, an experiment, a variant or a value that the node has
/// not offered; data_loss for what cannot be read or is out of bounds; resource_exhausted for more
/// ranks than it has room for. `node` is its name, for messages.
Status check_order(const Assignment& order, const std::string& node, const Description& offered,
                   const Room& room);

}  // namespace stripline::agent
