#include "runtime/machine/reach_table.h"

#include <gtest/gtest.h>

#include "runtime/fabric/fabric.h"

namespace stripline::machine {
namespace {

constexpr auto kNetwork = static_cast<uint8_t>(fabric::SameNode::network);
constexpr auto kMapped = static_cast<uint8_t>(fabric::SameNode::mapped);
constexpr auto kCma = static_cast<uint8_t>(fabric::SameNode::cma);

RankReach reach(std::vector<uint8_t> paths, std::string same_node = "") {
  return {.paths = std::move(paths),
          .provider = "tcp;ofi_rxm",
          .same_node = std::move(same_node),
          .runtime_bytes = 3U << 20,
          .per_peer_bytes = 64U << 10,
          .loop_bytes = 16U << 20};
}

constexpr const char* kMemory =
    "memory of the runtime per rank: 3 MiB, and up to 16 MiB for buffers of loops and 64 KiB for "
    "each other rank\n";

TEST(ReachTable, RanksThatReachAllAlikeAreOneLine) {
  const std::vector<RankReach> ranks(4, reach({kMapped, kMapped, kMapped, kMapped}));
  EXPECT_EQ(reach_table(ranks),
            std::string("ranks 0-3 reach ranks 0-3 by mapped memory\n") + kMemory);
  // What a rank says of itself does not matter.
  std::vector<RankReach> network;
  for (size_t i = 0; i < 3; ++i) {
    network.push_back(reach({kNetwork, kNetwork, kNetwork}));
    network.back().paths[i] = kMapped;
  }
  EXPECT_EQ(reach_table(network),
            std::string("ranks 0-2 reach ranks 0-2 by network (tcp;ofi_rxm)\n") + kMemory);
}

TEST(ReachTable, TwoNodesAreTwoLines) {
  const std::vector<RankReach> ranks = {
      reach({kMapped, kMapped, kNetwork, kNetwork}), reach({kMapped, kMapped, kNetwork, kNetwork}),
      reach({kNetwork, kNetwork, kMapped, kCma}), reach({kNetwork, kNetwork, kCma, kMapped})};
  EXPECT_EQ(reach_table(ranks),
            std::string("ranks 0-1 reach ranks 0-1 by mapped memory, 2-3 by network "
                        "(tcp;ofi_rxm)\n"
                        "ranks 2-3 reach ranks 2-3 by the kernel's copy (cma), 0-1 by network "
                        "(tcp;ofi_rxm)\n") +
                kMemory);
}

TEST(ReachTable, ReasonsAreGiven) {
  const std::string why = "network: 1 rank (rank 1: it runs in another process namespace)";
  const std::vector<RankReach> ranks = {reach({kMapped, kNetwork}, why),
                                        reach({kNetwork, kMapped}, "network: 1 rank")};
  EXPECT_EQ(reach_table(ranks), "rank 0 reaches rank 1 by network (tcp;ofi_rxm)\n  on this node, " +
                                    why + "\nrank 1 reaches rank 0 by network (tcp;ofi_rxm)\n" +
                                    kMemory);
}

TEST(ReachTable, OneRankAlone) {
  EXPECT_EQ(reach_table(std::vector<RankReach>{reach({kMapped})}), "");
  EXPECT_EQ(reach_line(0, reach({kMapped})), "");
  EXPECT_EQ(reach_line(1, reach({kMapped, kNetwork, kNetwork})),
            std::string("rank 1 reaches rank 0 by mapped memory, 2 by network (tcp;ofi_rxm)\n") +
                kMemory);
}

}  // namespace
}  // namespace stripline::machine
