#include "optimizer/stats/summary.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/testing/test_size.h"

namespace stripline::stats {
namespace {

TEST(Summary, MedianOfRunMediansAndTails) {
  Runs runs;
  for (int r = 0; r < 7; ++r) {
    const double base = 10.0 + r;
    runs.push_back({base - 1.0, base, base + 1.0});
  }
  runs.emplace_back();  // A run that produced nothing is skipped.
  const auto summary = summarize(runs);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->median, 13.0);
  EXPECT_EQ(summary->ci_low, 10.0);
  EXPECT_EQ(summary->ci_high, 16.0);
  EXPECT_EQ(summary->n_runs, 7U);
  EXPECT_EQ(summary->n_samples, 21U);
  EXPECT_EQ(summary->min, 9.0);
  EXPECT_GE(summary->p99, summary->p90);
  EXPECT_EQ(summary->method, IntervalMethod::run_medians_exact);
}

TEST(Summary, OneRunSaysThatItIsBlindToRuns) {
  const auto many = summarize({{1, 2, 3, 4, 5, 6, 7, 8}});
  const auto few = summarize({{3, 1}});
  ASSERT_TRUE(many.ok() && few.ok());
  EXPECT_EQ(many->method, IntervalMethod::within_run);
  EXPECT_EQ(few->method, IntervalMethod::range);
  EXPECT_EQ(few->ci_low, 1.0);
  EXPECT_EQ(few->ci_high, 3.0);
}

TEST(Summary, RefusesEmptyAndNan) {
  EXPECT_FALSE(summarize({}).ok());
  EXPECT_FALSE(summarize({{}, {}}).ok());
  EXPECT_FALSE(summarize({{1.0, std::numeric_limits<double>::quiet_NaN()}}).ok());
  EXPECT_FALSE(summarize({{1.0, 2.0}}, 0.0).ok());
}

// 3% between runs and 5% within: the interval over run medians must cover the long-run median,
// while one over the repetitions of a single run must be seen to fail.
TEST(Summary, IntervalOverRunsCoversWhereOneRunDoesNot) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  int over_runs = 0;
  int one_run = 0;
  constexpr int kTrials = cases_here(600);
  for (int trial = 0; trial < kTrials; ++trial) {
    Runs runs(10);
    for (auto& run : runs) {
      const double shift = 0.03 * normal(random);
      for (int i = 0; i < 20; ++i) run.push_back(std::exp(shift + 0.05 * normal(random)));
    }
    Runs single(1);
    const double shift = 0.03 * normal(random);
    for (int i = 0; i < 200; ++i) single[0].push_back(std::exp(shift + 0.05 * normal(random)));
    const auto a = summarize(runs);
    const auto b = summarize(single);
    ASSERT_TRUE(a.ok() && b.ok());
    over_runs += a->ci_low <= 1.0 && 1.0 <= a->ci_high ? 1 : 0;
    one_run += b->ci_low <= 1.0 && 1.0 <= b->ci_high ? 1 : 0;
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_GE(over_runs, 0.95 * kTrials);
  EXPECT_LE(one_run, 0.40 * kTrials);
}

}  // namespace
}  // namespace stripline::stats
