#include "optimizer/stats/wilcoxon.h"

#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "base/testing/test_size.h"

namespace stripline::stats {
namespace {

// Differences 1..n in which a subset of ranks with sum `w` is positive.
std::vector<double> with_w_plus(int n, int w) {
  std::vector<double> d;
  for (int rank = n; rank >= 1; --rank) {
    const bool positive = w >= rank;
    if (positive) w -= rank;
    d.push_back(positive ? rank : -rank);
  }
  return d;
}

// Critical values of the two-sided test as printed in Wilcoxon and Wilcox (1964) and most
// textbooks: the largest W with p <= level.
TEST(Wilcoxon, MatchesPublishedCriticalValues) {
  struct Row {
    int n;
    int at_05;
    int at_01;  // -1: none
  };
  for (const Row row : {Row{6, 0, -1}, Row{7, 2, -1}, Row{8, 3, 0}, Row{9, 5, 1}, Row{10, 8, 3},
                        Row{11, 10, 5}, Row{12, 13, 7}, Row{13, 17, 9}, Row{14, 21, 12},
                        Row{15, 25, 15}, Row{16, 29, 19}, Row{18, 40, 27}, Row{20, 52, 37},
                        Row{22, 65, 48}, Row{24, 81, 61}, Row{25, 89, 68}, Row{30, 137, 109}}) {
    const auto p = [&](int w) { return wilcoxon_signed_rank(with_w_plus(row.n, w))->p_two_sided; };
    EXPECT_LE(p(row.at_05), 0.05) << "n = " << row.n;
    EXPECT_GT(p(row.at_05 + 1), 0.05) << "n = " << row.n;
    if (row.at_01 >= 0) {
      EXPECT_LE(p(row.at_01), 0.01) << "n = " << row.n;
    }
    EXPECT_GT(p(row.at_01 + 1), 0.01) << "n = " << row.n;
  }
}

TEST(Wilcoxon, ExactTailsOfSmallSamples) {
  ASSERT_OK_AND_ASSIGN(const auto result, wilcoxon_signed_rank(with_w_plus(5, 0)));
  EXPECT_DOUBLE_EQ(result.p_less, 1.0 / 32.0);
  EXPECT_DOUBLE_EQ(result.p_greater, 1.0);
  EXPECT_DOUBLE_EQ(result.p_two_sided, 1.0 / 16.0);
  EXPECT_EQ(result.w_minus, 15.0);
}

// Hollander and Wolfe's depression scores: V = 40, one-sided p = 0.01953 (R's wilcox.test help).
TEST(Wilcoxon, MatchesPublishedExample) {
  const std::vector<double> x{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
  const std::vector<double> y{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  ASSERT_OK_AND_ASSIGN(const auto result, wilcoxon_signed_rank(x, y));
  EXPECT_EQ(result.w_plus, 40.0);
  EXPECT_NEAR(result.p_greater, 0.01953, 0.00001);
}

TEST(Wilcoxon, TiesAndZeros) {
  // Ranks 2, 2, 2, 4 of four differences; all 16 sign patterns counted by hand.
  ASSERT_OK_AND_ASSIGN(const auto result,
                       wilcoxon_signed_rank(std::vector{1.0, 1.0, -1.0, 3.0, 0.0, 0.0}));
  EXPECT_EQ(result.n, 4U);
  EXPECT_EQ(result.w_plus, 8.0);
  EXPECT_EQ(result.w_minus, 2.0);
  EXPECT_DOUBLE_EQ(result.p_greater, 4.0 / 16.0);  // W+ of 8 (three patterns) or 10 (one).
  ASSERT_OK_AND_ASSIGN(const auto zeros, wilcoxon_signed_rank(std::vector{0.0, 0.0}));
  EXPECT_EQ(zeros.p_two_sided, 1.0);
}

TEST(Wilcoxon, ApproximationContinuesTheExactTest) {
  // n = 50 is exact, n = 51 approximate; W at the same distance from the mean in standard units.
  const auto exact = wilcoxon_signed_rank(with_w_plus(50, 434));
  const auto approximate = wilcoxon_signed_rank(with_w_plus(51, 454));
  ASSERT_TRUE(exact.ok() && approximate.ok());
  EXPECT_TRUE(exact->exact);
  EXPECT_FALSE(approximate->exact);
  EXPECT_NEAR(exact->p_two_sided, approximate->p_two_sided, 0.002);
  EXPECT_LE(exact->p_two_sided, 0.05);  // Tabulated critical value for n = 50: 434.
}

TEST(Wilcoxon, KeepsItsLevel) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  int rejected = 0;
  for (int trial = 0; trial < cases_here(2000); ++trial) {
    std::vector<double> d(12);
    for (double& value : d) value = normal(random);
    rejected += wilcoxon_signed_rank(d)->p_two_sided <= 0.05 ? 1 : 0;
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_GE(rejected, 60);    // The attainable level at n = 12 is 0.0425.
  EXPECT_LE(rejected, 112);
}

TEST(Wilcoxon, RefusesBadInput) {
  EXPECT_FALSE(wilcoxon_signed_rank(std::vector<double>{}).ok());
  EXPECT_FALSE(wilcoxon_signed_rank(std::vector{std::numeric_limits<double>::quiet_NaN()}).ok());
  EXPECT_FALSE(wilcoxon_signed_rank(std::vector{1.0, 2.0}, std::vector{1.0}).ok());
}

}  // namespace
}  // namespace stripline::stats
