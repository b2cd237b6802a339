#include "optimizer/stats/interval.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "base/testing/test_size.h"
#include "optimizer/stats/order.h"

namespace stripline::stats {
namespace {

std::vector<double> count_to(int n) {
  std::vector<double> x;
  for (int i = 1; i <= n; ++i) x.push_back(i);
  return x;
}

// Ranks of the sign-test interval as tabulated in Conover, Practical Nonparametric Statistics, and
// Hollander and Wolfe, for 95% and 99%.
TEST(MedianInterval, RanksMatchTables) {
  struct Row {
    std::size_t n;
    std::size_t at_95;
    std::size_t at_99;
  };
  for (const Row row :
       {Row{5, 0, 0}, Row{6, 1, 0}, Row{7, 1, 0}, Row{8, 1, 1}, Row{9, 2, 1}, Row{10, 2, 1},
        Row{11, 2, 1}, Row{12, 3, 2}, Row{15, 4, 3}, Row{17, 5, 3}, Row{20, 6, 4}, Row{25, 8, 6},
        Row{30, 10, 8}, Row{40, 14, 12}, Row{50, 18, 16}, Row{100, 40, 37}}) {
    EXPECT_EQ(median_interval_rank(row.n, 0.95), row.at_95) << "n = " << row.n;
    EXPECT_EQ(median_interval_rank(row.n, 0.99), row.at_99) << "n = " << row.n;
  }
}

TEST(MedianInterval, UsesTheRanks) {
  ASSERT_OK_AND_ASSIGN(const auto interval, median_interval(count_to(10), 0.95));
  EXPECT_EQ(interval.low, 2.0);
  EXPECT_EQ(interval.high, 9.0);
}

TEST(MedianInterval, RefusesWhatItCannotDo) {
  EXPECT_EQ(median_interval(count_to(5), 0.95).error().code(), ErrorCode::failed_precondition);
  EXPECT_EQ(median_interval({}, 0.95).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(median_interval(count_to(9), 1.0).error().code(), ErrorCode::invalid_argument);
  std::vector<double> bad = count_to(9);
  bad[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(median_interval(bad, 0.95).error().code(), ErrorCode::invalid_argument);
}

TEST(MedianInterval, CoversAtLeastNominally) {
  std::mt19937_64 random(11);
  std::lognormal_distribution<double> noise(0.0, 0.5);
  int exact_hits = 0;
  constexpr int kTrials = cases_here(4000);
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> x(10);
    for (double& value : x) value = noise(random);
    ASSERT_OK_AND_ASSIGN(const auto exact, median_interval(x, 0.95));
    exact_hits += exact.contains(1.0) ? 1 : 0;
  }
  if (kInstrumented) return;  // too few to count
  // Exact coverage at n = 10 is 0.979; the standard error here is 0.003.
  EXPECT_NEAR(static_cast<double>(exact_hits) / kTrials, 0.979, 0.009);
}

// Student's sleep data, group differences; R: t.test(d) gives [0.7001142, 2.4598858].
TEST(MeanInterval, MatchesPublishedExample) {
  const std::vector<double> d{1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
  ASSERT_OK_AND_ASSIGN(const auto interval, mean_interval(d, 0.95));
  EXPECT_NEAR(interval.low, 0.7001142, 1e-6);
  EXPECT_NEAR(interval.high, 2.4598858, 1e-6);
  EXPECT_FALSE(mean_interval(std::vector{1.0}, 0.95).ok());
}

TEST(MeanInterval, SaysWhatAnIntervalNeeds) {
  const auto one = run_median_interval(std::vector{1.0}, 0.95);
  ASSERT_FALSE(one.ok());
  EXPECT_EQ(one.error().code(), ErrorCode::failed_precondition);
  EXPECT_NE(one.error().message().find("measure another run"), std::string::npos);
}

TEST(Quantiles, OutsideOfTheirDomainAreNotNumbersAndNeverThrow) {
  EXPECT_TRUE(std::isnan(normal_two_sided(1.5)));
  EXPECT_TRUE(std::isinf(normal_two_sided(1.0)));
  EXPECT_TRUE(std::isnan(t_two_sided(0.95, 0.0)));
  EXPECT_TRUE(std::isnan(t_one_sided(-1.0, 5.0)));
  EXPECT_TRUE(std::isinf(t_one_sided(1.0, 5.0)));
  EXPECT_TRUE(std::isnan(f_quantile(0.95, 0.0, 10.0)));
}

TEST(Quantiles, MatchTables) {
  EXPECT_NEAR(normal_two_sided(0.95), 1.959964, 1e-6);
  EXPECT_NEAR(t_two_sided(0.95, 5), 2.570582, 1e-6);
  EXPECT_NEAR(t_one_sided(0.95, 11), 1.795885, 1e-6);
  EXPECT_NEAR(f_quantile(0.95, 1, 10), 4.964603, 1e-6);
}

TEST(Quantiles, AreTheSameWhereManyAreNeeded) {
  for (const double confidence : {0.8, 0.95, 0.975}) {
    const TQuantile quantile(confidence);
    for (const double freedom : {0.5, 1.0, 1.001, 1.5, 1.9999, 2.0, 3.7, 10.0, 99.5, 1e4}) {
      const double exact = t_one_sided(confidence, freedom);
      EXPECT_NEAR(quantile.at(freedom), exact, 1e-12 * exact) << confidence << " " << freedom;
    }
    const double normal = normal_two_sided(2 * confidence - 1);
    EXPECT_NEAR(quantile.at(std::numeric_limits<double>::infinity()), normal, 1e-12 * normal);
    EXPECT_TRUE(std::isnan(quantile.at(std::numeric_limits<double>::quiet_NaN())));
  }
}

TEST(RunMedianInterval, SaysWhichMethodItUsed) {
  const auto few = run_median_interval(count_to(5), 0.95);
  const auto enough = run_median_interval(count_to(6), 0.95);
  ASSERT_TRUE(few.ok() && enough.ok());
  EXPECT_EQ(few->method, IntervalMethod::run_medians_t);
  EXPECT_EQ(enough->method, IntervalMethod::run_medians_exact);
  EXPECT_EQ(enough->interval.low, 1.0);
  EXPECT_EQ(enough->interval.high, 6.0);
  EXPECT_FALSE(run_median_interval(count_to(1), 0.95).ok());
}

}  // namespace
}  // namespace stripline::stats
