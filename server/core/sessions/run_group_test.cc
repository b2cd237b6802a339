#include "server/core/sessions/run_group.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

RunGroup group() { return {{1, 2}, 5, {"a", "b", "a"}, {10, 4}, 100}; }

TEST(RunGroup, KnowsWhoRunsWhat) {
  const RunGroup g = group();
  EXPECT_EQ(g.nodes(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(g.ranks_of("a"), (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(g.ranks_of("b"), std::vector<uint32_t>{1});
  EXPECT_TRUE(g.has_node("b"));
  EXPECT_FALSE(g.has_node("c"));
  EXPECT_EQ(g.fence(), 5U);
}

TEST(RunGroup, IsReadyWhenEveryRankHasJoined) {
  RunGroup g = group();
  EXPECT_TRUE(g.join("a", 0, "old"));
  EXPECT_TRUE(g.join("a", 0, "x0"));  // again, after a reconnect
  EXPECT_TRUE(g.join("a", 2, "x2"));
  EXPECT_FALSE(g.ready());
  EXPECT_TRUE(g.join("b", 1, "x1"));
  EXPECT_TRUE(g.ready());
  EXPECT_EQ(g.addresses(), (std::vector<std::string>{"x0", "x1", "x2"}));
  EXPECT_TRUE(g.join("b", 1, "late"));
  EXPECT_EQ(g.addresses()[1], "x1");
}

TEST(RunGroup, RanksJoinFromTheirNodeOnly) {
  RunGroup g = group();
  EXPECT_FALSE(g.join("b", 0, "x"));
  EXPECT_FALSE(g.join("a", 3, "x"));
  EXPECT_FALSE(g.join("c", 1, "x"));
}

TEST(RunGroup, IsLostWhenRanksDoNotJoin) {
  RunGroup g = group();
  g.join("a", 0, "x");
  g.join("a", 2, "x");
  EXPECT_EQ(g.next_deadline_s(), 104);
  EXPECT_FALSE(g.lost(103.9));
  ASSERT_TRUE(g.lost(104));
  EXPECT_EQ(*g.lost(104), "not every rank joined within 4 s: missing 1 on nodes/b");
  EXPECT_EQ(g.lost_at(104), "b");
  EXPECT_EQ(group().lost_at(104), std::nullopt);  // both
  g.join("b", 1, "x");
  EXPECT_FALSE(g.lost(104));
}

TEST(RunGroup, IsLostWhenALeaseRunsOut) {
  RunGroup g = group();
  for (uint32_t rank = 0; rank < 3; ++rank) g.join(rank == 1 ? "b" : "a", rank, "x");
  g.renew("a", 108);
  EXPECT_EQ(g.next_deadline_s(), 110);
  EXPECT_FALSE(g.lost(109.9));
  ASSERT_TRUE(g.lost(110));
  EXPECT_EQ(*g.lost(110), "nodes/b was not heard of for 10 s");
  EXPECT_EQ(g.lost_at(109), std::nullopt);
  EXPECT_EQ(g.lost_at(110), "b");
  g.renew("b", 111);
  EXPECT_FALSE(g.lost(117));
  ASSERT_TRUE(g.lost(118));
}

TEST(RunGroup, ANodeThatFinishedNeedsNoLease) {
  RunGroup g = group();
  for (uint32_t rank = 0; rank < 3; ++rank) g.join(rank == 1 ? "b" : "a", rank, "x");
  g.finish("b");
  EXPECT_TRUE(g.finished("b"));
  EXPECT_FALSE(g.all_finished());
  g.renew("b", 105);  // does not bring the lease back
  g.renew("a", 150);
  EXPECT_FALSE(g.lost(155));
  g.finish("a");
  EXPECT_TRUE(g.all_finished());
  EXPECT_FALSE(g.next_deadline_s());
}

TEST(RunGroup, CanBeGivenMoreTime) {
  RunGroup g({1, 1}, 1, {"a", "b"}, {10, 4}, 100);
  g.postpone(20);
  EXPECT_EQ(g.lost(123), std::nullopt);
  EXPECT_EQ(g.next_deadline_s(), 124);
  g.finish("a");
  g.postpone(1);
  EXPECT_TRUE(g.lost(125));
  EXPECT_TRUE(g.finished("a"));
}

}  // namespace
}  // namespace stripline::server
