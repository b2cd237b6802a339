#include "runtime/update/grid.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace stripline::update {
namespace {

// Steps of parcels, in the order in which they wait for each other.
constexpr std::array kOrder = {Onward::place_of, Onward::column_of, Onward::row_of,
                               Onward::layer_of, Onward::nothing};

TEST(Grid, LeadsFromEachRankToEach) {
  // The length of rows that are nodes is the second number.
  for (const auto& [hops, row] :
       {std::pair(2U, 1U), std::pair(3U, 1U), std::pair(2U, 2U), std::pair(3U, 2U),
        std::pair(2U, 5U), std::pair(3U, 5U), std::pair(2U, 16U), std::pair(3U, 16U)}) {
    for (rank_t ranks = 1U << hops; ranks <= 66; ++ranks) {
      if (row > 1 && !plan::update_grid_has_row(ranks, hops, row)) continue;
      const uint64_t numbers = Grid::numbers(ranks, hops, row);
      for (rank_t source = 0; source < ranks; ++source) {
        std::set<rank_t> peers;
        for (rank_t owner = 0; owner < ranks; ++owner) {
          rank_t here = source;
          uint32_t crossed = 0;
          const auto* before = kOrder.begin();
          for (uint32_t hop = 0; here != owner; ++hop) {
            ASSERT_LT(hop, hops) << source << " to " << owner << " of " << ranks;
            const Grid grid(here, ranks, hops, row);
            const Grid::Step step = grid.step_to(owner);
            ASSERT_LT(step.next, ranks) << source << " to " << owner << " of " << ranks;
            ASSERT_TRUE(grid.is_next(step.next));
            ASSERT_LT(step.number, numbers);
            if (here == source) peers.insert(step.next);
            const Onward onward = grid.meaning(step.next);
            const Grid there(step.next, ranks, hops, row);
            // One of the hops is within a node.
            crossed += here / row != step.next / row ? 1 : 0;
            ASSERT_TRUE(row == 1 || crossed < hops) << source << " to " << owner << " of " << ranks;
            ASSERT_EQ(onward == Onward::nothing ? step.next : there.owner_of(onward, step.number),
                      owner);
            if (onward == Onward::nothing) {
              ASSERT_EQ(step.number, 0U);
            }
            // No rank waits in a circle.
            const auto* const place = std::ranges::find(kOrder, onward);
            ASSERT_TRUE(hop == 0 || before < place) << source << " to " << owner << " of " << ranks;
            before = place;
            here = step.next;
          }
        }
        ASSERT_LE(peers.size(), plan::update_destinations(ranks, hops, row));
      }
    }
  }
}

}  // namespace
}  // namespace stripline::update
