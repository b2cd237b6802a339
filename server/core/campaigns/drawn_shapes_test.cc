#include "server/core/campaigns/drawn_shapes.h"

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "server/core/campaigns/grid.h"
#include "server/testing/experiments.h"

namespace stripline::server {
namespace {

experiment::Experiment vis() {
  experiment::Factor direction = powers("direction", "", 1, 1);
  direction.values = {std::string("get"), std::string("put")};
  return declared("micro.vis",
                  {powers("region_bytes", "B", 8, 1 << 10), powers("bytes", "B", 2048, 256 << 10),
                   powers("stride", "1", 2, 4), direction},
                  {"pipelined", "packed"}, {"vis.get"});
}

double number(const experiment::Point& point, const char* name) {
  return *experiment::number_param(point, name);
}

TEST(DrawnShapes, AsManyAsTheGridHasButOthers) {
  const auto grid = grid_points({vis(), test_experiments()[0]});
  auto drawn = grid;
  DrawnShapes(grid, 7).apply(drawn);
  ASSERT_EQ(drawn.size(), grid.size());
  std::set<std::string> keys;
  std::set<double> regions;
  for (size_t i = 0; i < drawn.size(); ++i) {
    keys.insert(point_key(drawn[i]));
    if (drawn[i].experiment != "micro.vis") {
      EXPECT_EQ(drawn[i], grid[i]);
      continue;
    }
    const double region = number(drawn[i], "region_bytes");
    const double count = number(drawn[i], "bytes") / region;
    regions.insert(region);
    EXPECT_GE(region, 16);
    EXPECT_LE(region, 32 << 10);
    EXPECT_EQ(static_cast<int64_t>(region) % 8, 0);
    EXPECT_EQ(count, std::floor(count));
    EXPECT_GE(count, 2);
    EXPECT_LE(count, 4000);
    EXPECT_LE(region * count, 256 << 10);
    EXPECT_EQ(number(drawn[i], "stride"), number(grid[i], "stride"));
  }
  EXPECT_EQ(keys.size(), drawn.size());
  EXPECT_GT(regions.size(), 60U);
  EXPECT_LT(*regions.begin(), 64);
  EXPECT_GT(*regions.rbegin(), 8 << 10);
}

TEST(DrawnShapes, AllMethodsForAShapeMoveTheSame) {
  auto points = grid_points({vis()});
  DrawnShapes(points, 7).apply(points);
  std::map<std::tuple<double, double, double>, int> points_of_shape;
  for (const auto& point : points) {
    ++points_of_shape[{number(point, "region_bytes"), number(point, "bytes"),
                       number(point, "stride")}];
  }
  for (const auto& [shape, count] : points_of_shape) EXPECT_EQ(count, 4);
}

TEST(DrawnShapes, ACoarserGridHoldsSomeOfThem) {
  const auto all = grid_points({vis()});
  const DrawnShapes shapes(all, 3);
  auto drawn = all;
  shapes.apply(drawn);
  auto coarse = grid_points(prune({vis()}, {.sizes = 3}));
  ASSERT_LT(coarse.size(), all.size());
  shapes.apply(coarse);
  std::set<std::string> known;
  for (const auto& point : drawn) known.insert(point_key(point));
  for (const auto& point : coarse) EXPECT_TRUE(known.contains(point_key(point)));
}

TEST(DrawnShapes, TheSeedDecides) {
  const auto grid = grid_points({vis()});
  auto once = grid;
  auto again = grid;
  auto other = grid;
  DrawnShapes(grid, 1).apply(once);
  DrawnShapes(grid, 1).apply(again);
  DrawnShapes(grid, 2).apply(other);
  EXPECT_EQ(once, again);
  EXPECT_NE(once, other);
}

}  // namespace
}  // namespace stripline::server
