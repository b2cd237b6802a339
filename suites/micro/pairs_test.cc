#include "suites/micro/pairs.h"

#include <set>

#include <gtest/gtest.h>

namespace stripline::suites {
namespace {

// Levels of switches that join `reach[level]` nodes each.
std::function<uint32_t(uint32_t, uint32_t)> tree(std::vector<uint32_t> reach) {
  return [reach = std::move(reach)](uint32_t a, uint32_t b) {
    uint32_t level = 0;
    while (level < reach.size() && a / reach[level] != b / reach[level]) ++level;
    return level;
  };
}

void expect_pairs(uint32_t nodes, uint32_t distance, std::vector<uint32_t> reach) {
  const auto distance_of = tree(std::move(reach));
  const auto partner = pair_at_distance(nodes, distance, distance_of);
  ASSERT_TRUE(partner.has_value()) << nodes << " at " << distance;
  std::set<uint32_t> taken;
  for (uint32_t node = 0; node < nodes; ++node) {
    EXPECT_NE((*partner)[node], node);
    EXPECT_EQ(distance_of(node, (*partner)[node]), distance) << node;
    taken.insert((*partner)[node]);
  }
  EXPECT_EQ(taken.size(), nodes);
}

TEST(Pairs, AreAtTheDistanceThatWasAskedFor) {
  expect_pairs(2, 0, {4, 16, 64});
  expect_pairs(16, 0, {4, 16, 64});
  expect_pairs(8, 1, {4, 16, 64});
  expect_pairs(16, 1, {4, 16, 64});
  expect_pairs(64, 1, {4, 16, 64});
  expect_pairs(32, 2, {4, 16, 64});
  expect_pairs(64, 2, {4, 16, 64});
  expect_pairs(6, 0, {3, 6});
  expect_pairs(6, 1, {3, 6});
  expect_pairs(7, 1, {2, 8});  // 2, 2, 2 and 1
}

TEST(Pairs, AreNotThereWhereANodeHasNobodyAtThatDistance) {
  EXPECT_FALSE(pair_at_distance(4, 1, tree({4, 16})).has_value());  // all below one switch
  EXPECT_FALSE(pair_at_distance(5, 0, tree({4, 16})).has_value());  // the fifth is alone there
  EXPECT_FALSE(pair_at_distance(5, 1, tree({4, 16})).has_value());  // four want the fifth
  EXPECT_FALSE(pair_at_distance(1, 0, tree({4})).has_value());
  EXPECT_FALSE(pair_at_distance(16, 3, tree({4, 16, 64})).has_value());
}

}  // namespace
}  // namespace stripline::suites
