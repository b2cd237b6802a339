#include "suites/repeat.h"

#include <gtest/gtest.h>

#include "suites/testing/ranks.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;
using experiment::StopReason;
using experiment::StopRule;

// Runs the control on made-up repetitions that each take `step_s`; value(i) is the i-th sample.
template <typename Value>
SampleSeries simulate(const StopRule& rule, double step_s, Value value, double least = 0) {
  double now_s = 10;
  RepetitionControl control(rule, now_s, least);
  size_t i = 0;
  while (const size_t batch = control.next_batch(now_s)) {
    for (size_t k = 0; k < batch; ++k) {
      now_s += step_s;
      control.add(value(i++), now_s);
    }
  }
  SampleSeries series;
  control.finish(series);
  return series;
}

TEST(RepetitionControl, DropsRepetitionsUntilTheySettle) {
  // 100, 50, 25, 12, 12, 12, ...: the fifth is the first that is not much faster than the one
  // before.
  const auto value = [](size_t i) { return i < 3 ? 100.0 / static_cast<double>(1 << i) : 12.0; };
  const SampleSeries series = simulate({.time_budget_s = 1}, 1e-5, value);
  EXPECT_EQ(series.warmup_dropped, 5u);
  for (const double sample : series.values) EXPECT_EQ(sample, 12.0);
}

TEST(RepetitionControl, WarmupIsBoundedInNumberAndTime) {
  const auto ever_faster = [](size_t i) { return 1.0 / static_cast<double>(uint64_t{1} << i); };
  EXPECT_EQ(simulate({.max_reps = 20, .time_budget_s = 1e9}, 1e-5, ever_faster).warmup_dropped, 8u);
  EXPECT_EQ(simulate({.time_budget_s = 1}, 0.4, ever_faster).warmup_dropped, 1u);
}

TEST(RepetitionControl, StopsWhenTheIntervalIsNarrow) {
  const SampleSeries series = simulate({.time_budget_s = 1}, 1e-5, [](size_t) { return 3.0; });
  EXPECT_EQ(series.stop_reason, StopReason::converged);
  EXPECT_EQ(series.values.size(), StopRule().min_reps);
  ASSERT_EQ(series.timestamps_s.size(), series.values.size());
  EXPECT_LT(series.timestamps_s.front(), series.timestamps_s.back());
}

TEST(RepetitionControl, StopsWhenTheIntervalIsNarrowBesideWhatMatters) {
  const auto around_zero = [](size_t i) { return i % 2 == 0 ? 1.0 : -1.0; };
  const StopRule rule{.time_budget_s = 1};
  EXPECT_EQ(simulate(rule, 1e-5, around_zero).stop_reason, StopReason::max_reps);
  const SampleSeries series = simulate(rule, 1e-5, around_zero, 1000);
  EXPECT_EQ(series.stop_reason, StopReason::converged);
  EXPECT_EQ(series.values.size(), StopRule().min_reps);
}

TEST(RepetitionControl, StopsAtTheMostRepetitions) {
  const SampleSeries series = simulate({.max_reps = 37, .time_budget_s = 1}, 1e-5,
                                       [](size_t i) { return i % 2 == 0 ? 1.0 : 3.0; });
  EXPECT_EQ(series.stop_reason, StopReason::max_reps);
  EXPECT_EQ(series.values.size(), 37u);
}

TEST(RepetitionControl, StopsSoonAfterTheTimeBudget) {
  const SampleSeries series = simulate({.max_reps = 100000, .time_budget_s = 1}, 0.05,
                                       [](size_t i) { return i % 2 == 0 ? 1.0 : 3.0; });
  EXPECT_EQ(series.stop_reason, StopReason::time_budget);
  EXPECT_LE(series.values.size() + series.warmup_dropped, 21u);
}

TEST(RepetitionControl, TakesOneSampleHoweverSlow) {
  const SampleSeries series = simulate({.time_budget_s = 0.01}, 5, [](size_t) { return 1.0; });
  EXPECT_EQ(series.values.size(), 1u);
  EXPECT_EQ(series.warmup_dropped, 1u);
  EXPECT_EQ(series.stop_reason, StopReason::time_budget);
}

TEST(RepetitionControl, ASlowWarmupLeavesOneSample) {
  // The second repetition is held up for far longer than the budget.
  double now_s = 0;
  RepetitionControl control({.time_budget_s = 0.01}, now_s);
  std::vector<size_t> batches;
  for (const double step_s : {1e-4, 5.0, 1e-4, 1e-4, 1e-4}) {
    batches.push_back(control.next_batch(now_s));
    if (batches.back() == 0) break;
    now_s += step_s;
    control.add(1.0, now_s);
  }
  EXPECT_EQ(batches, (std::vector<size_t>{1, 1, 1, 0}));
}

TEST(StopRuleCheck, RefusesAContradiction) {
  EXPECT_FALSE(check_stop_rule({.min_reps = 5, .max_reps = 4}).ok());
  EXPECT_TRUE(check_stop_rule({}).ok());
}

TEST(RepeatTogether, TakesTheMaximumAndRepeatsEquallyOften) {
  std::vector<size_t> repetitions(3);
  SampleSeries series;
  on_ranks(3, "emulated:opteron-vapi,compute=none", "virtual", [&](Session& session) {
    const rank_t me = session.context().rank_me();
    SampleSeries mine;
    repeat_together(
        session, {.max_reps = 30, .time_budget_s = 1},
        [&] {
          ++repetitions[me];
          return static_cast<double>(1 + me);
        },
        mine);
    if (me == 0) series = mine;
  });
  EXPECT_EQ(repetitions[0], series.values.size() + series.warmup_dropped);
  EXPECT_EQ(repetitions[1], repetitions[0]);
  EXPECT_EQ(repetitions[2], repetitions[0]);
  for (const double sample : series.values) EXPECT_EQ(sample, 3.0);
}

}  // namespace
}  // namespace stripline::suites
