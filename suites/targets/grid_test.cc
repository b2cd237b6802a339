#include "suites/targets/grid.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace stripline::suites::tune {
namespace {

using targets::Collective;
using Sizes = std::vector<uint64_t>;

TEST(Grid, SizesGoToTheLargest) {
  EXPECT_EQ(first_sizes(Collective::bcast, 4, 1 << 20),
            (Sizes{8, 128, 2048, 32768, 524288, 1048576}));
  EXPECT_EQ(first_sizes(Collective::bcast, 4, 4096), (Sizes{8, 128, 2048, 4096}));
  EXPECT_EQ(first_sizes(Collective::barrier, 4, 1 << 20), Sizes{0});
}

TEST(Grid, BuffersOfManyRanksAreBounded) {
  for (const uint32_t ranks : {2U, 3U, 8U, 1000U}) {
    EXPECT_LE(first_sizes(Collective::alltoall, ranks, 1 << 20).back() * ranks, kMostBufferBytes);
  }
}

TEST(Grid, HoldsWhatWasAskedFor) {
  const auto cells = first_cells({.ranks = {2, 3},
                                  .collectives = {Collective::bcast, Collective::barrier},
                                  .most_bytes = 128});
  ASSERT_EQ(cells.size(), 6U);
  EXPECT_EQ(cells[0].collective, Collective::barrier);
  EXPECT_EQ(cells[2].bytes, 128U);
  EXPECT_EQ(cells[3].ranks, 3U);
  EXPECT_EQ(cells[3].ranks_per_node, 3U);
  const auto spread =
      first_cells({.ranks = {3}, .collectives = {Collective::bcast}, .one_node = false});
  EXPECT_EQ(spread.front().ranks_per_node, 1U);
}

TEST(Grid, SizesBetweenNeighboursEnd) {
  EXPECT_EQ(size_between(8, 128), 32U);
  EXPECT_EQ(size_between(2048, 32768), 8192U);
  EXPECT_EQ(size_between(8, 16), 0U);
  EXPECT_EQ(size_between(0, 16), 0U);
  uint64_t below = 8;
  for (int i = 0; i < 40 && below != 0; ++i) below = size_between(below, 1 << 20);
  EXPECT_EQ(below, 0U);
}

TEST(Grid, CrowdedNumbersOfRanksAreLaunchedByThemselves) {
  const std::vector<uint32_t> ranks = {2, 3, 4, 8};
  EXPECT_EQ(launch_groups(ranks, 4), (std::vector<std::vector<uint32_t>>{{2, 3, 4}, {8}}));
  EXPECT_EQ(launch_groups(ranks, 1).size(), 1U);
}

TEST(Grid, CallsTellRightFromWrong) {
  const auto has = [](Collective collective, bool commutative_only, const CallKind& wanted) {
    const auto kinds = call_kinds(collective, commutative_only);
    return std::ranges::any_of(kinds, [&](const CallKind& one) {
      return std::string(one.type) == wanted.type && one.in_place == wanted.in_place;
    });
  };
  EXPECT_EQ(call_kinds(Collective::barrier, false).size(), 1U);
  EXPECT_TRUE(has(Collective::scan, false, {"matrix", true}));
  EXPECT_FALSE(has(Collective::scan, true, {"matrix", true}));
  EXPECT_FALSE(has(Collective::scan, false, {"triple", false}));
  EXPECT_TRUE(has(Collective::bcast, false, {"triple", false}));
  EXPECT_FALSE(has(Collective::bcast, false, {"double", true}));
}

}  // namespace
}  // namespace stripline::suites::tune
