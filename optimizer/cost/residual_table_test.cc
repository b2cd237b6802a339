#include "optimizer/cost/residual_table.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"

namespace stripline::cost {
namespace {

model::VisResidual cell(uint64_t region_bytes, uint64_t regions, double ratio,
                        double half_width = 0.1) {
  return {region_bytes, regions, model::example_parameter(ratio, half_width)};
}

TEST(ResidualTable, KnowsNothing) {
  const ResidualTable table;
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.at(3, 4).value, 0);
  EXPECT_EQ(table.at(3, 4).high, 0);
}

TEST(ResidualTable, OneCellHoldsEverywhere) {
  const ResidualTable table({cell(64, 16, 2)});
  for (const double x : {0.0, 6.0, 40.0}) {
    EXPECT_DOUBLE_EQ(table.at(x, 2 * x).value, std::log(2));
    EXPECT_DOUBLE_EQ(table.at(x, 2 * x).low, std::log(1.8));
    EXPECT_DOUBLE_EQ(table.at(x, 2 * x).high, std::log(2.2));
  }
  EXPECT_NEAR(table.least(), 1.8, 1e-8);
  EXPECT_NEAR(table.most(), 2.2, 1e-8);
}

TEST(ResidualTable, IsExactAtCellsAndGeometricBetweenThem) {
  const ResidualTable table(
      {cell(16, 16, 1), cell(16, 256, 4), cell(256, 1, 2), cell(256, 16, 8)});  // 256 B and 4 KiB
  EXPECT_NEAR(std::exp(table.at(4, 8).value), 1, 1e-12);
  EXPECT_NEAR(std::exp(table.at(8, 12).value), 8, 1e-12);
  EXPECT_NEAR(std::exp(table.at(4, 10).value), 2, 1e-12);
  EXPECT_NEAR(std::exp(table.at(6, 8).value), std::sqrt(2), 1e-12);
  EXPECT_NEAR(std::exp(table.at(6, 10).value), 2 * std::sqrt(2), 1e-12);
  EXPECT_NEAR(std::exp(table.at(20, 20).value), 8, 1e-12);
  EXPECT_NEAR(std::exp(table.at(0, 0).value), 1, 1e-12);
}

TEST(ResidualTable, AMissingCellIsLikeItsNeighbours) {
  // The middle of a checkerboard, and a corner that only one cell is near to.
  const ResidualTable table({cell(4, 64, 2), cell(16, 4, 2), cell(16, 64, 8), cell(64, 4, 8)});
  EXPECT_NEAR(std::exp(table.at(4, 8).value), 4, 1e-12);
  EXPECT_LE(table.at(4, 8).low, std::log(2) + 1e-12);  // as they differ, so may it
  EXPECT_GE(table.at(4, 8).high, std::log(8) - 1e-12);
  const ResidualTable corner({cell(16, 4, 1), cell(16, 8, 1), cell(1 << 20, 4, 2)});
  EXPECT_NEAR(std::exp(corner.at(20, 22).value), 2, 1e-3);
}

// Whatever was measured: the result is within the range of
// the cells, its interval holds it, and small steps change it little.
TEST(ResidualTable, PropertiesOfRandomTables) {
  std::mt19937_64 random(7);
  const auto uniform = [&](double a, double b) {
    return std::uniform_real_distribution<>(a, b)(random);
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<model::VisResidual> cells;
    double smallest = 1e9;
    double largest = 0;
    for (uint64_t x = 0; x < 6; ++x) {
      for (uint64_t y = 0; y < 6; ++y) {
        if (!cells.empty() && random() % 4 == 0) continue;
        cells.push_back(cell(uint64_t{1} << (3 * x), uint64_t{1} << (2 * y),
                             std::exp(uniform(-2, 2)), uniform(0, 0.9)));
        smallest = std::min(smallest, cells.back().ratio.value);
        largest = std::max(largest, cells.back().ratio.value);
      }
    }
    const ResidualTable table(cells);
    for (int i = 0; i < 50; ++i) {
      const double x = uniform(-2, 20);
      const double y = uniform(-2, 14);
      const LogRatio at = table.at(x, y);
      EXPECT_GE(at.value, std::log(smallest) - 1e-9);
      EXPECT_LE(at.value, std::log(largest) + 1e-9);
      EXPECT_LE(at.low, at.value);
      EXPECT_GE(at.high, at.value);
      EXPECT_GE(at.low, std::log(table.least()));
      EXPECT_LE(at.high, std::log(table.most()));
      EXPECT_NEAR(table.at(x + 1e-6, y).value, at.value, 1e-5);
      EXPECT_NEAR(table.at(x, y + 1e-6).value, at.value, 1e-5);
    }
  }
}

}  // namespace
}  // namespace stripline::cost
