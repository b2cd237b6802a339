#include "optimizer/cost/log2_of.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace stripline::cost {
namespace {

TEST(Log2Of, NoBytesCountAsOne) {
  EXPECT_EQ(log2_of(0), 0);
  EXPECT_EQ(log2_of(1), 0);
  EXPECT_EQ(log2_of(4096), 12);
}

TEST(Log2Of, TheQuickOneIsNearAtAllMagnitudes) {
  double last = -std::numeric_limits<double>::infinity();
  for (double value = 1e-12; value < 1e18; value *= 1.003) {
    const double quick = quick_log2(value);
    ASSERT_NEAR(quick, std::log2(value), 2e-6) << value;
    ASSERT_GT(quick, last) << value;
    last = quick;
  }
}

}  // namespace
}  // namespace stripline::cost
