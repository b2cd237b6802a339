#include "optimizer/fit/stream_bound.h"

#include <cmath>

#include <gtest/gtest.h>

namespace stripline::fit {
namespace {

TEST(StreamBound, IsThatOfTheSizesAround) {
  const StreamBound bound({{100, 1e-6}, {1000, 10e-6}});
  EXPECT_DOUBLE_EQ(bound.per_byte(100), 1e-8);
  EXPECT_DOUBLE_EQ(bound.per_byte(550), 5.5e-6 / 550);
  EXPECT_DOUBLE_EQ(bound.per_byte(10), 1e-6 / 10);
  EXPECT_DOUBLE_EQ(bound.per_byte(1 << 20), 1e-8) << "beyond the largest";
  EXPECT_DOUBLE_EQ(bound.per_byte(0), 1e-6);
}

TEST(StreamBound, NothingIsBoundedWithoutStreams) {
  EXPECT_TRUE(std::isinf(StreamBound({}).per_byte(64)));
  EXPECT_TRUE(std::isinf(StreamBound({{0, 1e-6}}).per_byte(64))) << "streams of nothing";
  EXPECT_TRUE(std::isinf(StreamBound({{64, 0.0}}).per_byte(64)));
  EXPECT_TRUE(std::isinf(StreamBound({{64, -1e-6}}).per_byte(64)));
}

TEST(StreamBound, ASizeThatSeemsToTakeNoTimeDoesNotBoundItsNeighbours) {
  const StreamBound bound({{8, -1e-6}, {1000, 10e-6}});
  EXPECT_DOUBLE_EQ(bound.per_byte(100), 10e-6 / 100);
}

}  // namespace
}  // namespace stripline::fit
