// Operations on blocks, on numbers whose results are known.
#include "suites/kernels/nas/bt_block.h"

#include <cmath>

#include <gtest/gtest.h>

namespace stripline::suites::nas {
namespace {

/// A block that is dominated by its diagonal; the lines have different ones.
BtBlock block(double seed) {
  BtBlock result = {};
  for (size_t i = 0; i < kComponents; ++i) {
    for (size_t j = 0; j < kComponents; ++j) {
      const double angle = seed + static_cast<double>(3 * i + 7 * j + i * j);
      result.at[i][j] = LinePair{std::sin(angle), std::cos(2 * angle)};
    }
    result.at[i][i] += 6;
  }
  return result;
}

BtVector vector(double seed) {
  BtVector result = {};
  for (size_t i = 0; i < kComponents; ++i) {
    const auto at = static_cast<double>(i);
    result.at[i] = LinePair{seed + at, seed * at - 2};
  }
  return result;
}

TEST(BtBlock, ProductsAreThoseOfTheDefinition) {
  const BtBlock a = block(1);
  const BtBlock b = block(2);
  const BtVector x = vector(3);
  BtBlock c = block(4);
  BtVector y = vector(5);
  subtract_product(c, a, b);
  subtract_product(y, a, x);
  for (size_t lane = 0; lane < 2; ++lane) {
    for (size_t i = 0; i < kComponents; ++i) {
      double expected = vector(5).at[i][lane];
      for (size_t k = 0; k < kComponents; ++k) expected -= a.at[i][k][lane] * x.at[k][lane];
      EXPECT_NEAR(y.at[i][lane], expected, 1e-13);
      for (size_t j = 0; j < kComponents; ++j) {
        expected = block(4).at[i][j][lane];
        for (size_t k = 0; k < kComponents; ++k) expected -= a.at[i][k][lane] * b.at[k][j][lane];
        EXPECT_NEAR(c.at[i][j][lane], expected, 1e-13);
      }
    }
  }
}

TEST(BtBlock, SolutionsSolve) {
  const BtBlock a = block(1);
  const BtBlock c = block(2);
  const BtVector r = vector(3);
  BtBlock lost = a;
  BtBlock x = c;
  BtVector y = r;
  solve(lost, x, y);
  // What remains of the right-hand sides is nothing.
  BtBlock remains = c;
  BtVector remain = r;
  subtract_product(remains, a, x);
  subtract_product(remain, a, y);
  for (size_t lane = 0; lane < 2; ++lane) {
    for (size_t i = 0; i < kComponents; ++i) {
      EXPECT_NEAR(remain.at[i][lane], 0, 1e-13);
      EXPECT_GT(std::abs(y.at[i][lane]) + std::abs(r.at[i][lane]), 1e-3);
      for (size_t j = 0; j < kComponents; ++j) EXPECT_NEAR(remains.at[i][j][lane], 0, 1e-13);
    }
  }
}

}  // namespace
}  // namespace stripline::suites::nas
