#include "optimizer/campaign/pair_sampling.h"

#include <string>

#include <gtest/gtest.h>

#include "base/random.h"

namespace stripline::campaign {
namespace {

std::vector<NodePlace> numbered(size_t nodes) {
  std::vector<NodePlace> places;
  for (size_t node = 0; node < nodes; ++node) {
    std::string number = std::to_string(node);
    places.push_back({"n" + std::string(5 - number.size(), '0') + number, ""});
  }
  return places;
}

// `leaves` leaf switches of `nodes` nodes each, four leaves below each spine.
std::vector<NodePlace> tree(size_t leaves, size_t nodes) {
  std::vector<NodePlace> places;
  for (size_t leaf = 0; leaf < leaves; ++leaf) {
    for (size_t node = 0; node < nodes; ++node) {
      places.push_back({"l" + std::to_string(leaf) + "n" + std::to_string(node),
                        "spine" + std::to_string(leaf / 4) + ".leaf" + std::to_string(leaf)});
    }
  }
  return places;
}

TEST(PairSampling, DistancesAreLevelsOfSwitches) {
  const NetworkPlaces places({{"a", "core.row1.leaf1"},
                              {"b", "core.row1.leaf1"},
                              {"c", "core.row1.leaf2"},
                              {"d", "core.row2.leaf3"}});
  EXPECT_TRUE(places.by_switches());
  EXPECT_EQ(places.distance("a", "b"), 0U);
  EXPECT_EQ(places.distance("a", "c"), 1U);
  EXPECT_EQ(places.distance("d", "b"), 2U);
  EXPECT_EQ(places.distance("a", "unknown"), std::nullopt);
  EXPECT_EQ(places.pairs(), (std::map<uint32_t, uint64_t>{{0, 1}, {1, 2}, {2, 3}}));
}

TEST(PairSampling, NumbersTellWhereSwitchesAreNotKnown) {
  auto nodes = numbered(8);
  nodes[3].switches = "core.leaf1";
  const NetworkPlaces places(nodes);
  EXPECT_FALSE(places.by_switches());
  EXPECT_EQ(places.distance("n00000", "n00001"), 0U);
  EXPECT_EQ(places.distance("n00001", "n00002"), 1U);
  EXPECT_EQ(places.distance("n00000", "n00007"), 2U);
  EXPECT_EQ(places.pairs(), (std::map<uint32_t, uint64_t>{{0, 4}, {1, 8}, {2, 16}}));
  EXPECT_EQ(NetworkPlaces(numbered(2)).pairs(), (std::map<uint32_t, uint64_t>{{0, 1}}));
  EXPECT_TRUE(NetworkPlaces({}).pairs().empty());
}

// However rare a distance is, it gets its share of the runs.
TEST(PairSampling, RunsAreSharedAmongDistances) {
  const auto nodes = tree(64, 16);
  const NetworkPlaces places(nodes);
  const auto all = places.pairs();
  EXPECT_EQ(all.at(0), 64U * 16 * 15 / 2);
  EXPECT_EQ(all.at(0) + all.at(1) + all.at(2), 1024U * 1023 / 2);
  std::vector<std::string> order;
  for (const NodePlace& node : nodes) order.push_back(node.node);
  std::vector<NodePair> taken;
  std::map<uint32_t, uint32_t> runs;
  for (uint64_t run = 1; run <= 12; ++run) {
    shuffle(order, run);
    taken.push_back(next_pair(places, order, taken));
    EXPECT_EQ(taken.back().first, order.front());
    EXPECT_NE(taken.back().first, taken.back().second);
    ++runs[*places.distance(taken.back().first, taken.back().second)];
  }
  EXPECT_EQ(runs, (std::map<uint32_t, uint32_t>{{0, 4}, {1, 4}, {2, 4}}));
  EXPECT_EQ(runs_by_distance(places, 12), runs);
}

TEST(PairSampling, ThereMayBeOneDistanceOnly) {
  const NetworkPlaces places({{"a", "leaf"}, {"b", "leaf"}, {"c", "leaf"}});
  EXPECT_EQ(next_pair(places, {"c", "a", "b"}, {{"c", "a"}}), (NodePair{"c", "a"}));
  EXPECT_EQ(runs_by_distance(places, 3), (std::map<uint32_t, uint32_t>{{0, 3}}));
  EXPECT_TRUE(runs_by_distance(NetworkPlaces({}), 3).empty());
}

}  // namespace
}  // namespace stripline::campaign
