#include "optimizer/cost/octave_table.h"

#include <vector>

#include <gtest/gtest.h>

namespace stripline::cost {
namespace {

TEST(OctaveTable, IsZeroWithoutPoints) {
  EXPECT_EQ(OctaveTable().at(0), 0.0);
  EXPECT_EQ(OctaveTable(std::vector<CurveValue>{}).at(4096), 0.0);
}

TEST(OctaveTable, HoldsTheNearestPointOutside) {
  const std::vector<CurveValue> points = {{4096, 1.0}, {65536, 3.0}};
  const OctaveTable table(points);
  EXPECT_EQ(table.at(0), 1.0);
  EXPECT_EQ(table.at(100), 1.0);
  EXPECT_EQ(table.at(4096), 1.0);
  EXPECT_EQ(table.at(65536), 3.0);
  EXPECT_EQ(table.at(uint64_t{1} << 40), 3.0);
  EXPECT_EQ(table.at(~uint64_t{0}), 3.0);
}

TEST(OctaveTable, InterpolatesBetweenPoints) {
  const std::vector<CurveValue> points = {{4096, 1.0}, {65536, 3.0}, {131072, 2.0}};
  const OctaveTable table(points);
  EXPECT_DOUBLE_EQ(table.at(8192), 1.5);  // one octave of four
  EXPECT_DOUBLE_EQ(table.at(16384), 2.0);
  EXPECT_DOUBLE_EQ(table.at(24576), 2.25);  // linear in bytes within an octave
  EXPECT_DOUBLE_EQ(table.at(98304), 2.5);
}

}  // namespace
}  // namespace stripline::cost
