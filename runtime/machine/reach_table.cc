#include "runtime/machine/reach_table.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/quantity.h"
#include "runtime/fabric/fabric.h"
#include "runtime/machine/job_table.h"

namespace stripline::machine {
namespace {

constexpr auto kSameNodePaths =
    std::array{fabric::SameNode::mapped, fabric::SameNode::cma, fabric::SameNode::network};

/// Ranks that reach all others alike.
struct Group {
  std::vector<uint32_t> members;
  std::vector<std::optional<uint8_t>> paths;  // of a rank that only knows itself: none
  const RankReach* first = nullptr;
};

std::string named(const std::vector<uint32_t>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + list_text(ranks);
}

bool take(Group& group, uint32_t rank, const RankReach& reach) {
  if (reach.provider != group.first->provider || reach.same_node != group.first->same_node) {
    return false;
  }
  for (size_t other = 0; other < reach.paths.size(); ++other) {
    if (other != rank && group.paths[other] && *group.paths[other] != reach.paths[other]) {
      return false;
    }
  }
  for (size_t other = 0; other < reach.paths.size(); ++other) {
    if (other != rank) group.paths[other] = reach.paths[other];
  }
  group.members.push_back(rank);
  return true;
}

std::string line(const Group& group) {
  std::string text;
  for (const fabric::SameNode path : kSameNodePaths) {
    std::vector<uint32_t> reached;
    for (uint32_t other = 0; other < group.paths.size(); ++other) {
      if (group.paths[other] && *group.paths[other] == static_cast<uint8_t>(path)) {
        reached.push_back(other);
      }
    }
    if (reached.empty()) continue;
    text += (text.empty() ? named(reached) : ", " + list_text(reached)) + " by ";
    switch (path) {
      case fabric::SameNode::mapped:
        text += "mapped memory";
        break;
      case fabric::SameNode::cma:
        text += "the kernel's copy (cma)";
        break;
      case fabric::SameNode::network:
        text += "network (" + group.first->provider + ")";
        break;
    }
  }
  text = named(group.members) + (group.members.size() == 1 ? " reaches " : " reach ") + text + '\n';
  // What it says without a reason is above.
  if (group.first->same_node.find('(') != std::string::npos) {
    text += "  on this node, " + group.first->same_node + '\n';
  }
  return text;
}

Group group_of(uint32_t rank, const RankReach& reach) {
  Group group{.members = {}, .paths = {}, .first = &reach};
  group.paths.resize(reach.paths.size());
  take(group, rank, reach);
  return group;
}

std::string memory_line(const RankReach& reach) {
  return "memory of the runtime per rank: " + bytes_text(reach.runtime_bytes) + ", and up to " +
         bytes_text(reach.loop_bytes) + " for buffers of loops and " +
         bytes_text(reach.per_peer_bytes) + " for each other rank\n";
}

}  // namespace

std::string reach_table(std::span<const RankReach> ranks) {
  if (ranks.size() < 2) return {};
  std::vector<Group> groups;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const bool taken = std::any_of(groups.begin(), groups.end(),
                                   [&](Group& group) { return take(group, rank, ranks[rank]); });
    if (!taken) groups.push_back(group_of(rank, ranks[rank]));
  }
  std::string text;
  for (const Group& group : groups) text += line(group);
  const auto largest =
      std::max_element(ranks.begin(), ranks.end(), [](const RankReach& a, const RankReach& b) {
        return a.runtime_bytes + a.per_peer_bytes < b.runtime_bytes + b.per_peer_bytes;
      });
  return text + memory_line(*largest);
}

std::string reach_line(uint32_t rank, const RankReach& reach) {
  if (reach.paths.size() < 2) return {};
  return line(group_of(rank, reach)) + memory_line(reach);
}

}  // namespace stripline::machine
