#include "optimizer/campaign/refinement.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/experiment/catalogue.h"

namespace stripline::campaign {
namespace {

using experiment::Point;

// Two experiments, of 32 sizes with four bursts each, and of 10 points without a size.
std::vector<Point> two_experiments() {
  std::vector<Point> points;
  for (int64_t size = 0; size < 32; ++size) {
    for (const int64_t burst : {1, 4, 16, 64}) {
      points.push_back({"micro.issue", "get", {{"bytes", int64_t{1} << size}, {"burst", burst}}});
    }
  }
  for (int64_t i = 0; i < 10; ++i) points.push_back({"micro.atomic", "all", {{"in_flight", i}}});
  return points;
}

TEST(Refinement, KeepsAllPoints) {
  const auto points = two_experiments();
  const auto ordered = by_refinement(points);
  ASSERT_EQ(ordered.size(), points.size());
  for (const Point& point : points) EXPECT_EQ(std::ranges::count(ordered, point), 1);
}

TEST(Refinement, WhatComesFirstIsSpreadOverTheSizes) {
  const auto ordered = by_refinement(two_experiments());
  for (const size_t part : {4U, 2U}) {
    // Logarithms of the sizes of this part of the sequence.
    std::set<int64_t> sizes;
    size_t others = 0;
    for (size_t i = 0; i < ordered.size() / part; ++i) {
      const auto size = experiment::number_param(ordered[i], experiment::factor::kBytes);
      if (size) sizes.insert(std::llround(std::log2(*size)));
      if (!size) ++others;
    }
    EXPECT_NEAR(static_cast<double>(sizes.size()), 32.0 / static_cast<double>(part), 2);
    EXPECT_NEAR(static_cast<double>(others), 10.0 / static_cast<double>(part), 2);
    int64_t last = -1;
    for (const int64_t size : sizes) {
      EXPECT_LE(size - last, static_cast<int64_t>(2 * part)) << "after " << last;
      last = size;
    }
    EXPECT_LE(32 - last, static_cast<int64_t>(2 * part));
  }
}

TEST(Refinement, PointsOfASizeStayTogether) {
  const auto ordered = by_refinement(two_experiments());
  std::set<double> seen;
  double last = -1;
  for (const Point& point : ordered) {
    const auto size = experiment::number_param(point, experiment::factor::kBytes);
    if (!size) continue;
    if (*size != last) {
      EXPECT_TRUE(seen.insert(*size).second) << *size;
    }
    last = *size;
  }
}

}  // namespace
}  // namespace stripline::campaign
