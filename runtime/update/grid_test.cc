#include "runtime/update/grid.h"

#include <set>

#include <gtest/gtest.h>

namespace stripline::update {
namespace {

TEST(Grid, LeadsFromEachRankToEachInTwoHops) {
  for (rank_t ranks = 2; ranks <= 70; ++ranks) {
    for (rank_t me = 0; me < ranks; ++me) {
      const Grid grid(me, ranks);
      std::set<rank_t> peers;
      for (rank_t owner = 0; owner < ranks; ++owner) {
        if (owner == me) continue;
        const Grid::Step step = grid.step_to(owner);
        ASSERT_LT(step.next, ranks);
        ASSERT_NE(step.next, me);
        ASSERT_TRUE(grid.is_next(step.next));
        peers.insert(step.next);
        const Grid there(step.next, ranks);
        const Onward onward = grid.meaning(step.next);
        const rank_t found =
            onward == Onward::nothing ? step.next : there.owner_of(onward, step.number);
        ASSERT_EQ(found, owner) << me << " of " << ranks << " by " << step.next;
        if (found != step.next) {
          ASSERT_TRUE(there.is_next(found));
        }
      }
      ASSERT_LE(peers.size(), grid.width() + grid.rows() - 2);
    }
  }
}

}  // namespace
}  // namespace stripline::update
