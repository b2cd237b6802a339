#include "runtime/fabric/emulated/fat_tree.h"

#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::fabric {
namespace {

// 4 nodes below a switch, 4 such switches below the next, with half and a quarter of the links.
FatTree tree() { return FatTree({{4, 2, 1e-9}, {4, 4, 2e-9}, {16, 0, 0}}, 1e-7); }

TEST(FatTree, RoutesLeadAsFarUpAsNeeded) {
  EXPECT_EQ(FatTree().hops(0, 99), 0U);
  EXPECT_EQ(FatTree().links(100), 0U);
  EXPECT_EQ(tree().hops(5, 5), 0U);
  EXPECT_EQ(tree().hops(4, 7), 0U);
  EXPECT_EQ(tree().hops(0, 4), 2U);
  EXPECT_EQ(tree().hops(15, 3), 2U);
  EXPECT_EQ(tree().hops(0, 16), 4U);
  EXPECT_EQ(tree().hops(63, 2), 4U);
  // 64 nodes: 16 switches of 2 links, 4 of 4, each in both directions.
  EXPECT_EQ(tree().links(64), 2U * (16 * 2 + 4 * 4));
  EXPECT_EQ(tree().links(5), 2U * (2 * 2 + 1 * 4));
}

TEST(FatTree, NamesTheSwitchesAboveANode) {
  EXPECT_EQ(FatTree().switches(7), FatTree().switches(99));
  EXPECT_EQ(tree().switches(0), "2:0.1:0.0:0");
  EXPECT_EQ(tree().switches(3), tree().switches(0));
  EXPECT_EQ(tree().switches(63), "2:0.1:3.0:15");
}

TEST(FatTree, SwitchesThatJoinMoreNodesThanThereCanBeJoinAll) {
  const FatTreeLevel level{64, 1, 1e-9};
  const FatTree tall({level, level, level, level, level, {64, 0, 0}}, 1e-7);
  EXPECT_EQ(tall.hops(0, 63), 0U);
  EXPECT_EQ(tall.hops(0, 1U << 29), 8U);
  EXPECT_EQ(tall.links(1), 2U * 5);
}

TEST(FatTree, LinksAreUsedInOneDirectionAndByTheNodesBelow) {
  constexpr uint32_t kNodes = 64;
  const FatTree network = tree();
  // By link: which switches, seen from below, use it.
  std::vector<std::set<std::pair<uint32_t, bool>>> users(network.links(kNodes));
  for (uint32_t source = 0; source < kNodes; ++source) {
    for (uint32_t target = 0; target < kNodes; ++target) {
      const uint32_t hops = network.hops(source, target);
      for (uint32_t number = 0; number < hops; ++number) {
        const FatTree::Hop hop = network.hop(source, target, number, kNodes);
        ASSERT_LT(hop.link, users.size());
        const bool up = number < hops / 2;
        const uint32_t level = up ? number : hops - 1 - number;
        EXPECT_EQ(hop.G_s_per_byte, level == 0 ? 1e-9 : 2e-9);
        const uint32_t node = up ? source : target;
        users[hop.link].insert({1000 * level + node / (level == 0 ? 4 : 16), up});
      }
    }
  }
  for (const auto& of_link : users) EXPECT_EQ(of_link.size(), 1U);
  // What goes to nodes of different parity parts at the first switch, whoever sends it.
  EXPECT_EQ(network.hop(0, 4, 0, kNodes).link, network.hop(1, 6, 0, kNodes).link);
  EXPECT_NE(network.hop(0, 4, 0, kNodes).link, network.hop(1, 5, 0, kNodes).link);
  EXPECT_NE(network.hop(0, 4, 0, kNodes).link, network.hop(4, 0, 0, kNodes).link);
}

}  // namespace
}  // namespace stripline::fabric
