#include "runtime/fabric/emulated/fat_tree.h"

#include <limits>
#include <utility>

namespace stripline::fabric {

FatTree::FatTree(std::vector<FatTreeLevel> levels, double hop_s, PacketSwitching packets)
    : levels_(std::move(levels)), hop_s_(hop_s), packets_(packets) {
  constexpr uint32_t kAllNodes = std::numeric_limits<uint32_t>::max();
  uint32_t reach = 1;
  for (const FatTreeLevel& level : levels_) {
    reach = level.down > kAllNodes / reach ? kAllNodes : reach * level.down;
    reach_.push_back(reach);
  }
}

std::string FatTree::switches(uint32_t node) const {
  std::string path;
  for (size_t level = levels_.size(); level-- > 0;) {
    if (!path.empty()) path += '.';
    path += std::to_string(level) + ':' + std::to_string(node / reach_[level]);
  }
  return path.empty() ? "0:0" : path;  // one switch joins all nodes
}

uint32_t FatTree::links(uint32_t nodes) const {
  return first_link(static_cast<uint32_t>(levels_.size()), nodes);
}

// Links are numbered level by level; those of a switch upwards, then those downwards to it.
LinkId FatTree::first_link(uint32_t level, uint32_t nodes) const {
  LinkId links = 0;
  for (uint32_t below = 0; below < level; ++below) {
    links += 2 * (switch_of(nodes - 1, below) + 1) * levels_[below].up;
  }
  return links;
}

uint32_t FatTree::meeting_level(uint32_t source, uint32_t target) const {
  uint32_t level = 0;
  while (level + 1 < levels_.size() && switch_of(source, level) != switch_of(target, level)) {
    ++level;
  }
  return level;
}

uint32_t FatTree::hops(uint32_t source, uint32_t target) const {
  return levels_.empty() ? 0 : 2 * meeting_level(source, target);
}

FatTree::Hop FatTree::hop(uint32_t source, uint32_t target, uint32_t number, uint32_t nodes) const {
  const uint32_t meeting = meeting_level(source, target);
  const bool upwards = number < meeting;
  const uint32_t level = upwards ? number : 2 * meeting - 1 - number;
  const uint32_t up = levels_[level].up;
  const uint32_t bundle = 2 * switch_of(upwards ? source : target, level) + (upwards ? 0 : 1);
  return {first_link(level, nodes) + bundle * up + target % up, levels_[level].G_s_per_byte};
}

}  // namespace stripline::fabric
