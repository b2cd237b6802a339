#include "optimizer/experiment/point_order.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace stripline::experiment {
namespace {

TEST(PointOrder, HoldsEachPointOnceInAnOrderOfTheSeed) {
  Assignment assignment;
  for (int64_t i = 0; i < 50; ++i) {
    assignment.points.push_back({"micro.latency", "get", {{"bytes", i}}});
  }
  assignment.seed = 3;
  const auto order = order_of_points(assignment);
  EXPECT_EQ(order, order_of_points(assignment));
  EXPECT_NE(order, assignment.points);
  for (const Point& point : assignment.points) {
    EXPECT_EQ(std::ranges::count(order, point), 1);
  }
  assignment.seed = 4;
  EXPECT_NE(order, order_of_points(assignment));
}

TEST(PointOrder, LeftOutExperimentsAreReadOrRefused) {
  EXPECT_TRUE(left_out_of(Json::object())->empty());
  const auto named = left_out_of({{"left_out", {{"micro.am", "rank 1 died"}}}});
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(named->at("micro.am"), "rank 1 died");
  EXPECT_FALSE(left_out_of({{"left_out", 3}}).ok());
  EXPECT_FALSE(left_out_of({{"left_out", {{"micro.am", 3}}}}).ok());
}

}  // namespace
}  // namespace stripline::experiment
