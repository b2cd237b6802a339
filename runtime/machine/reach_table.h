// What `stripline run --verbose` shows once ranks are connected: how they reach each other, and the
// memory that takes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stripline::machine {

/// How one rank reaches others, and what for; as it tells rank 0.
struct RankReach {
  /// By rank of the job: mapped, cma or network, as in fabric::SameNode. Of itself, anything.
  std::vector<uint8_t> paths;
  std::string provider;         ///< that carries "network"
  std::string same_node;        ///< Info::same_node, which says why a path is not the one asked for
  uint64_t runtime_bytes = 0;   ///< MemoryUse::runtime_bytes
  uint64_t per_peer_bytes = 0;  ///< MemoryUse::per_peer_bytes
  uint64_t loop_bytes = 0;      ///< MemoryUse::loop_bytes
};

/// A line for each group of ranks that reach all others alike, e.g. "ranks 0-3 reach ranks 0-3 by
/// mapped memory, 4-7 by network (tcp;ofi_rxm)", with the reasons below it where ranks of a node do
/// not reach each other as asked for; and a line about the memory. Lines end in '\n'. Empty for a
/// job of one rank.
std::string reach_table(std::span<const RankReach> ranks);

/// The line of one rank alone, which knows of no others.
std::string reach_line(uint32_t rank, const RankReach& reach);

}  // namespace stripline::machine
