#include "optimizer/search/grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace stripline::search {
namespace {

using Sizes = std::vector<uint64_t>;

TEST(GeometricGrid, PowersOfTwoWithTheEnds) {
  EXPECT_EQ(*geometric_grid({8, 64}), (Sizes{8, 16, 32, 64}));
  EXPECT_EQ(*geometric_grid({6, 100}), (Sizes{6, 8, 16, 32, 64, 100}));
  EXPECT_EQ(*geometric_grid({5, 5}), (Sizes{5}));
}

TEST(GeometricGrid, SeveralPerOctaveRoundedToMultiples) {
  EXPECT_EQ(*geometric_grid({16, 64}, 2), (Sizes{16, 23, 32, 45, 64}));
  EXPECT_EQ(*geometric_grid({16, 64, 8}, 2), (Sizes{16, 24, 32, 48, 64}));
  const auto dense = geometric_grid({8, 64, 8}, 12);
  ASSERT_TRUE(dense.ok());
  EXPECT_EQ(*dense, (Sizes{8, 16, 24, 32, 40, 48, 56, 64}));
  EXPECT_EQ(*geometric_grid({9, 63, 8}), (Sizes{16, 32, 56}));
}

TEST(GeometricGrid, LargeBoundsDoNotOverflow) {
  const uint64_t top = std::numeric_limits<uint64_t>::max();
  const auto grid = geometric_grid({1, top}, 1);
  ASSERT_TRUE(grid.ok());
  EXPECT_EQ(grid->size(), 65U);
  EXPECT_EQ(grid->back(), top);
  EXPECT_EQ((*grid)[63], uint64_t{1} << 63);
}

TEST(GeometricGrid, RefusesEmptyRanges) {
  EXPECT_FALSE(geometric_grid({0, 8}).ok());
  EXPECT_FALSE(geometric_grid({9, 8}).ok());
  EXPECT_FALSE(geometric_grid({9, 15, 8}).ok());
  EXPECT_FALSE(geometric_grid({1, 8, 0}).ok());
  EXPECT_FALSE(geometric_grid({1, 8}, 0).ok());
  EXPECT_FALSE(geometric_grid({1, 8}, std::numeric_limits<unsigned>::max()).ok());
}

TEST(Bisect, HalvesInLog2UntilNothingIsBetween) {
  EXPECT_EQ(bisect(1024, 4096), 2048U);
  EXPECT_EQ(bisect(8, 24, 8), 16U);
  EXPECT_EQ(bisect(8, 16, 8), std::nullopt);
  EXPECT_EQ(bisect(1000, 1100, 1, 0.1), std::nullopt);
  EXPECT_EQ(bisect(7, 7), std::nullopt);
  EXPECT_EQ(bisect(0, 7), std::nullopt);
}

TEST(Bisect, StaysBetweenTheLargestSizes) {
  const uint64_t top = std::numeric_limits<uint64_t>::max();
  const auto middle = bisect(top - 2048, top);
  ASSERT_TRUE(middle.has_value());
  EXPECT_GT(*middle, top - 2048);
  EXPECT_LT(*middle, top);
}

TEST(Bisect, FindsABreakpointInLogarithmicallyManySteps) {
  constexpr uint64_t kTruth = 16385;  // First size of the new protocol.
  uint64_t low = 8192;
  uint64_t high = 65536;
  int steps = 0;
  while (const auto middle = bisect(low, high)) {
    (*middle < kTruth ? low : high) = *middle;
    ++steps;
  }
  EXPECT_EQ(low, kTruth - 1);
  EXPECT_EQ(high, kTruth);
  EXPECT_LE(steps, 20);
}

TEST(Refine, ConvergesOnTheMinimum) {
  // Cost of overhead per strip against unhidden tail: its minimum is at sqrt(a / b).
  const auto cost = [](uint64_t size) {
    const auto s = static_cast<double>(size);
    return 5e6 / s + 0.02 * s;
  };
  const GridRange range{256, 1 << 20, 8};
  std::vector<Measured> measured;
  const std::vector<uint64_t> grid = *geometric_grid(range);
  for (const uint64_t size : grid) measured.push_back({size, cost(size)});
  const std::size_t coarse = measured.size();
  for (auto next = refine_around_best(measured, range, 0.1); !next.empty();
       next = refine_around_best(measured, range, 0.1)) {
    for (const uint64_t size : next) {
      EXPECT_EQ(size % 8, 0U);
      measured.push_back({size, cost(size)});
    }
  }
  double best = std::numeric_limits<double>::infinity();
  for (const Measured& m : measured) best = std::min(best, m.cost);
  EXPECT_LT(best / (2.0 * std::sqrt(5e6 * 0.02)), 1.002);
  EXPECT_LE(measured.size(), coarse + 12);
}

TEST(Refine, ASizeMeasuredTwiceIsNotItsOwnNeighbour) {
  const GridRange range{8, 64};
  EXPECT_EQ(refine_around_best(std::vector<Measured>{{8, 1.0}, {8, 1.2}, {64, 3.0}}, range),
            (Sizes{23}));
  EXPECT_EQ(refine_around_best(std::vector<Measured>{{8, 3.0}, {64, 1.2}, {64, 1.0}}, range),
            (Sizes{23}));
}

TEST(Refine, IgnoresFailedPointsAndStopsAtTheEdge) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(refine_around_best({}, {1, 100}).empty());
  const std::vector<Measured> failed{{8, nan}, {16, nan}};
  EXPECT_TRUE(refine_around_best(failed, {8, 16}).empty());
  const std::vector<Measured> edge{{64, 3.0}, {8, 1.0}, {16, nan}};
  EXPECT_EQ(refine_around_best(edge, {8, 64}), (Sizes{11}));
}

}  // namespace
}  // namespace stripline::search
