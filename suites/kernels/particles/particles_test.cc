#include "suites/kernels/particles/particles.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

namespace stripline::particles {
namespace {

TEST(Particles, PartsOfABisectionHaveTheirSizesAndAreCompact) {
  const std::vector<Vector> points = make_lattice(6);
  ASSERT_EQ(points.size(), 864U);
  const std::array<size_t, 5> sizes = {173, 173, 173, 173, 172};
  const std::vector<uint32_t> order = bisect(points, sizes);
  std::vector<uint32_t> all = order;
  std::ranges::sort(all);
  for (uint32_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
  // The cut in the middle: two of five parts lie before it along one side.
  std::array<bool, 3> cut{};
  for (size_t dimension = 0; dimension < 3; ++dimension) {
    const auto along = [&](uint32_t number) {
      const Vector& at = points[number];
      return std::array{at.x, at.y, at.z}.at(dimension);
    };
    const double most =
        along(*std::max_element(order.begin(), order.begin() + 346,
                                [&](uint32_t a, uint32_t b) { return along(a) < along(b); }));
    const double least =
        along(*std::min_element(order.begin() + 346, order.end(),
                                [&](uint32_t a, uint32_t b) { return along(a) < along(b); }));
    cut[dimension] = most <= least;
  }
  EXPECT_EQ(std::ranges::count(cut, true), 1);
}

TEST(Particles, NeighboursAreAllWithinReach) {
  for (const uint64_t cells : {1U, 2U, 4U}) {  // in small cubes a cell of the grid meets itself
    std::vector<Vector> points = make_lattice(cells);
    const double side = side_of(cells);
    points.front().x -= side;  // the same place
    const size_t first = points.size() / 4;
    const NeighbourLists lists = find_neighbours(points, side, first, points.size());
    ASSERT_EQ(lists.begin.size(), points.size() - first + 1);
    for (size_t i = first; i < points.size(); ++i) {
      std::vector<uint64_t> expected;
      for (size_t j = 0; j < points.size(); ++j) {
        const Vector separation = between(points[i], points[j], side);
        if (j != i && std::hypot(separation.x, separation.y, separation.z) < kReach + kSkin) {
          expected.push_back(j);
        }
      }
      const auto begin = lists.neighbour.begin();
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(),
                             begin + static_cast<std::ptrdiff_t>(lists.begin[i - first]),
                             begin + static_cast<std::ptrdiff_t>(lists.begin[i - first + 1])))
          << "particle " << i << " of " << points.size();
    }
  }
}

TEST(Particles, ForcesAreOppositeAndEndAtTheirReach) {
  const double side = 20;
  const Vector near{19.6, 3, 3};
  const Vector there{0.7, 3.2, 3};  // across the border
  const Vector one = force(near, there, side);
  const Vector other = force(there, near, side);
  EXPECT_LT(one.x, 0);
  EXPECT_DOUBLE_EQ(one.x, -other.x);
  EXPECT_DOUBLE_EQ(one.y, -other.y);
  EXPECT_EQ(force({1, 1, 1}, {1 + kReach, 1, 1}, side).x, 0);
}

}  // namespace
}  // namespace stripline::particles
