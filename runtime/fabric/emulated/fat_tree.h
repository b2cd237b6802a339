// Where messages of an emulated network share links: a tree of switches, nodes at its leaves. Links
// of equal rank between two switches are distinguished; which of them a message takes depends on
// where it goes, so that messages between other nodes may wait for each other although none of
// their NICs is busy. What bandwidth is left to a pair when many send is not written down anywhere:
// it emerges.
//
// Switches of level 0 join `down` nodes each, those of level k `down` switches of level k - 1. Each
// has `up` links, in both directions, to the level above, where the links of the same number of all
// its neighbours meet (a fat tree with as many top switches as links, seen as bundles). Routes are
// static: the route up and down takes link (target node mod up), as InfiniBand's D-mod-k routing.
//
// Messages may be cut into packets, which take turns on links; then switches may have buffers of
// finite size, one for each link that leads to them, those of the NICs included.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stripline::fabric {

struct FatTreeLevel {
  uint32_t down = 1;        ///< nodes, or switches of the level below, that a switch joins
  uint32_t up = 0;          ///< links to the level above; of the uppermost level: none
  double G_s_per_byte = 0;  ///< of such a link
};

/// What switches do with data.
struct PacketSwitching {
  uint64_t packet_bytes = 0;  ///< largest part of a message that goes alone; 0: messages stay whole
  uint64_t buffer_bytes =
      0;  ///< what a switch holds of each link, a packet at least; 0: everything
};

/// What a packet takes of a buffer at least: InfiniBand counts credits in blocks of 64 bytes.
inline constexpr uint64_t kCreditBytes = 64;

/// Link: a number below links() of the tree it is of.
using LinkId = uint32_t;

/// Value; a tree without levels joins all nodes without shared links.
class FatTree {
 public:
  FatTree() = default;
  /// `hop_s`: what each switch on the route but the first adds to the latency.
  FatTree(std::vector<FatTreeLevel> levels, double hop_s, PacketSwitching packets = {});

  bool empty() const { return levels_.empty(); }
  double hop_s() const { return hop_s_; }
  const PacketSwitching& packets() const { return packets_; }

  /// The switches above a node, from the uppermost down, joined by dots: "2:0.1:3.0:12".
  std::string switches(uint32_t node) const;

  /// Shared links of a network of `nodes` nodes.
  uint32_t links(uint32_t nodes) const;
  /// How many of these are on the route from one node to another: none below the same switch.
  uint32_t hops(uint32_t source, uint32_t target) const;
  /// One of them, the first one on the route being number 0.
  struct Hop {
    LinkId link = 0;
    double G_s_per_byte = 0;
  };
  Hop hop(uint32_t source, uint32_t target, uint32_t number, uint32_t nodes) const;

 private:
  LinkId first_link(uint32_t level, uint32_t nodes) const;
  // The level of the lowest switch that joins both.
  uint32_t meeting_level(uint32_t source, uint32_t target) const;
  // The switch of a level above a node.
  uint32_t switch_of(uint32_t node, uint32_t level) const { return node / reach_[level]; }

  std::vector<FatTreeLevel> levels_;
  std::vector<uint32_t> reach_;  // nodes below a switch of each level
  double hop_s_ = 0;
  PacketSwitching packets_;
};

}  // namespace stripline::fabric
