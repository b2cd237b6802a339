#include "optimizer/fit/stream_bound.h"

#include <cmath>

#include <gtest/gtest.h>

namespace stripline::fit {
namespace {

TEST(StreamBound, IsThatOfTheSizesAround) {
  const StreamBound bound({{100, 1e-6}, {1000, 10e-6}});
  EXPECT_DOUBLE_EQ(bound.most_per_byte(100), kMostOverStream * 1e-8);
  EXPECT_DOUBLE_EQ(bound.most_per_byte(550), kMostOverStream * 5.5e-6 / 550);
  EXPECT_DOUBLE_EQ(bound.most_per_byte(10), kMostOverStream * 1e-6 / 10);
  EXPECT_DOUBLE_EQ(bound.most_per_byte(1 << 20), kMostOverStream * 1e-8) << "beyond the largest";
  EXPECT_DOUBLE_EQ(bound.most_per_byte(0), kMostOverStream * 1e-6);
}

TEST(StreamBound, NothingIsBoundedWithoutStreams) {
  EXPECT_TRUE(std::isinf(StreamBound({}).most_per_byte(64)));
  EXPECT_TRUE(std::isinf(StreamBound({{64, 0.0}}).most_per_byte(64)));
  EXPECT_TRUE(std::isinf(StreamBound({{64, -1e-6}}).most_per_byte(64)));
}

}  // namespace
}  // namespace stripline::fit
