#include "optimizer/cost/load_costs.h"

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"

namespace stripline::cost {
namespace {

NetworkLoad load_of(uint32_t nodes, std::initializer_list<uint32_t> distances) {
  NetworkLoad load{.nodes = nodes};
  for (const uint32_t distance : distances) load.add(distance);
  return load;
}

const LoadCosts& example() {
  static const LoadCosts costs(model::example_service().get);
  return costs;
}

TEST(LoadCosts, CountsAsNoneWhereNothingIsKnown) {
  EXPECT_EQ(LoadCosts().slowdown(load_of(16, {2}), 65536), 1);
  EXPECT_EQ(example().slowdown(NetworkLoad{}, 65536), 1);
  EXPECT_EQ(example().slowdown(load_of(1, {2}), 65536), 1);
  EXPECT_EQ(example().slowdown(load_of(16, {}), 65536), 1);
}

TEST(LoadCosts, TakesTheServiceOfTheDistance) {
  EXPECT_EQ(example().slowdown(load_of(4, {0}), 65536), 1);
  EXPECT_EQ(example().slowdown(load_of(4, {1}), 65536), 2);
  EXPECT_EQ(example().slowdown(load_of(16, {2}), 65536), 4);
  // Not measured with 4 nodes: at most as far as they can be.
  EXPECT_EQ(example().slowdown(load_of(4, {2}), 65536), 2);
  EXPECT_EQ(example().slowdown(load_of(16, {100}), 65536), 4);
}

TEST(LoadCosts, WeighsDistancesByTheirOperations) {
  EXPECT_DOUBLE_EQ(example().slowdown(load_of(16, {0, 1, 2, 2}), 65536), (1 + 2 + 4 + 4) / 4.0);
}

TEST(LoadCosts, TakesTheNextLargerNumberOfNodes) {
  EXPECT_EQ(example().slowdown(load_of(2, {1}), 65536), 2);
  EXPECT_EQ(example().slowdown(load_of(5, {2}), 65536), 4);
  EXPECT_EQ(example().slowdown(load_of(1000, {2}), 65536), 4);
}

TEST(LoadCosts, InterpolatesBetweenSizesAndIsNeverBelowOne) {
  auto levels = model::example_service().get;
  levels.resize(1);
  levels.push_back(levels[0]);
  levels[0].distance = levels[1].distance = 1;
  levels[0].bytes = 1024;
  levels[0].worst.value = 0.9;
  levels[1].bytes = 65536;
  levels[1].worst.value = 4;
  const LoadCosts costs(levels);
  EXPECT_EQ(costs.slowdown(load_of(4, {1}), 8), 1);
  EXPECT_EQ(costs.slowdown(load_of(4, {1}), 1 << 20), 4);
  EXPECT_DOUBLE_EQ(costs.slowdown(load_of(4, {1}), 8192), 2.5);
  EXPECT_EQ(costs.slowdown(load_of(4, {0}), 65536), 1);  // nearer than what was measured
}

TEST(LoadCosts, CountsUpToItsLimit) {
  NetworkLoad load{.nodes = 4};
  for (int i = 0; i < 70000; ++i) load.add(1);
  EXPECT_EQ(load.at_distance[1], 65535);
  EXPECT_EQ(example().slowdown(load, 65536), 2);
}

}  // namespace
}  // namespace stripline::cost
