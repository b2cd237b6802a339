#include "optimizer/stats/order.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::stats {
namespace {

TEST(Order, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(median(std::vector{3.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median(std::vector{4.0, 1.0, 2.0, 3.0}), 2.5);
  EXPECT_EQ(median(std::vector{7.0}), 7.0);
}

TEST(Order, EmptyOrNanGivesNan) {
  const std::vector<double> with_nan{1.0, std::numeric_limits<double>::quiet_NaN(), 2.0};
  for (const auto& sample : {std::vector<double>{}, with_nan}) {
    EXPECT_TRUE(std::isnan(median(sample)));
    EXPECT_TRUE(std::isnan(quantile(sample, 0.9)));
    EXPECT_TRUE(std::isnan(tukey_outliers(sample).fence_low));
  }
}

// Values of R's quantile(c(1, 2, 3, 4, 10), type = 7).
TEST(Order, QuantileIsTypeSeven) {
  const std::vector<double> x{10.0, 1.0, 4.0, 2.0, 3.0};
  EXPECT_DOUBLE_EQ(quantile(x, 0.25), 2.0);
  EXPECT_DOUBLE_EQ(quantile(x, 0.9), 7.6);
  EXPECT_DOUBLE_EQ(quantile(x, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(quantile(x, 1.0), 10.0);
}

TEST(Order, Moments) {
  const std::vector<double> x{2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0};
  EXPECT_DOUBLE_EQ(mean_and_variance(x).mean, 5.0);
  EXPECT_DOUBLE_EQ(mean_and_variance(x).variance, 32.0 / 7.0);
  EXPECT_EQ(mean_and_variance(std::vector{3.0}).variance, 0.0);
}

TEST(Order, OutliersAreCountedOnBothSides) {
  std::vector<double> x;
  for (int i = 0; i < 20; ++i) x.push_back(10.0 + 0.1 * i);
  x.push_back(50.0);
  x.push_back(60.0);
  x.push_back(-40.0);
  const OutlierCounts counts = tukey_outliers(x);
  EXPECT_EQ(counts.high, 2U);
  EXPECT_EQ(counts.low, 1U);
}

}  // namespace
}  // namespace stripline::stats
