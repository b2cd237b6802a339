#include "optimizer/campaign/next_run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "optimizer/campaign/breaks.h"
#include "optimizer/campaign/widths.h"
#include "optimizer/experiment/held_out.h"

namespace stripline::campaign {
namespace {

using experiment::Point;

Point latency(int64_t bytes, const char* variant = "get") {
  return {"micro.latency", variant, {{"bytes", bytes}}};
}

// A network with a switch: from these sizes on, another latency.
struct Network {
  int64_t switch_bytes = 12 << 10;
  double between_runs = 0.002;
  double noisy_experiment = 0;  // of kernel.noisy, instead

  double time_s(const Point& point) const {
    const double bytes = *experiment::number_param(point, "bytes");
    return (bytes < static_cast<double>(switch_bytes) ? 2.2e-6 : 4.4e-6) + 2e-11 * bytes;
  }
};

// A campaign that is measured as next_run() says.
class Loop {
 public:
  Loop(const Rule& rule, std::vector<Point> plan, const Network& network)
      : rule_(rule), network_(network), table_(std::move(plan)) {
    rule_.all_points = static_cast<uint32_t>(table_.points().size());
    if (rule_.core_points == 0) rule_.core_points = rule_.all_points;
    progress_.points = nullptr;
  }

  // The next run, or why there is none.
  Next step() {
    Next next = next_run(rule_, progress_);
    if (next.done) return next;
    std::vector<uint32_t> places = next.places;
    if (places.empty()) {
      for (uint32_t place = 0; place < next.grid; ++place) places.push_back(place);
    }
    for (const Point& point : next.added) places.push_back(table_.add(point));
    const auto run = static_cast<uint32_t>(progress_.runs.size() + 1);
    std::vector<PointResult> results;
    for (const uint32_t place : places) {
      const Point& point = table_.points()[place].point;
      const bool noisy = point.experiment == "kernel.noisy" && network_.noisy_experiment > 0;
      std::normal_distribution<double> noise(
          0, noisy ? network_.noisy_experiment : network_.between_runs);
      results.push_back({place, network_.time_s(point) * std::exp(noise(random_)), 6, 0.01});
    }
    table_.add_run(run, results);
    const auto points = static_cast<uint32_t>(places.size());
    const double duration_s = 1 + 0.01 * points;
    progress_.runs.push_back({next.grid, points, 1, duration_s});
    progress_.spent_s += duration_s;
    progress_.points = &table_;
    return next;
  }

  Next finish() {
    Next next;
    while (!next.done) next = step();
    return next;
  }

  Rule rule_;
  Network network_;
  PointTable table_;
  Progress progress_;
  std::mt19937_64 random_{7};
};

std::vector<Point> sizes(const char* experiment = "micro.latency", const char* variant = "get") {
  std::vector<Point> points;
  for (int64_t bytes = 8; bytes <= 4 << 20; bytes *= 2) {
    points.push_back({experiment, variant, {{"bytes", bytes}}});
  }
  return points;
}

std::vector<Point> with_noisy() {
  std::vector<Point> points = sizes();
  for (const Point& point : sizes("kernel.noisy", "plain")) points.push_back(point);
  return points;
}

TEST(NextRun, MakesJustTheRunsAskedForWithoutAWidth) {
  Loop loop({.runs = 8, .time_budget_s = 1000}, sizes(), {});
  EXPECT_EQ(loop.finish().done, StopReason::max_runs);
  EXPECT_EQ(loop.progress_.runs.size(), 8U);
}

TEST(NextRun, EndsWhenIntervalsAreNarrow) {
  Loop loop({.runs = 8, .width = 0.05, .time_budget_s = 1000}, sizes(), {});
  EXPECT_EQ(loop.finish().done, StopReason::converged);
  EXPECT_EQ(loop.progress_.runs.size(), 6U);
  EXPECT_LE(achieved_width(loop.table_), 0.05);
}

TEST(NextRun, GoesOnWithWhatIsTooWide) {
  Loop loop({.runs = 8, .width = 0.04, .time_budget_s = 1000}, with_noisy(),
            {.noisy_experiment = 0.03});
  std::vector<size_t> points;
  Next next;
  while (!(next = loop.step()).done) points.push_back(loop.progress_.runs.back().points);
  ASSERT_GT(points.size(), 6U);
  EXPECT_EQ(points[5], 40U);
  EXPECT_EQ(points[6], 20U);  // the experiment that varies, whole
  EXPECT_LE(points.size(), 12U);
}

TEST(NextRun, SpendsNoMoreRunsThanPlannedOnWhatTheyWouldNotNarrowEnough) {
  Loop loop({.runs = 8, .width = 0.01, .time_budget_s = 1000}, with_noisy(),
            {.noisy_experiment = 0.3});
  EXPECT_EQ(loop.finish().done, StopReason::max_runs);
  EXPECT_EQ(loop.progress_.runs.size(), 8U);
}

TEST(NextRun, FindsASwitch) {
  Loop loop({.runs = 8, .width = 0.05, .time_budget_s = 1000, .refine_breaks = true}, sizes(), {});
  const Next end = loop.finish();
  EXPECT_EQ(end.done, StopReason::converged);
  int64_t below = 0;
  int64_t above = 4 << 20;
  for (const PointStatus& point : loop.table_.points()) {
    const auto bytes = static_cast<int64_t>(*experiment::number_param(point.point, "bytes"));
    EXPECT_GE(point.runs(), 6U) << bytes;
    if (bytes < 12 << 10) below = std::max(below, bytes);
    if (bytes >= 12 << 10) above = std::min(above, bytes);
  }
  EXPECT_LE(static_cast<double>(above), kNearRatio * static_cast<double>(below));
  EXPECT_LE(loop.table_.points().size(), 20U + 9U);
  EXPECT_LE(loop.progress_.runs.size(), 12U);
}

TEST(NextRun, ACurveWithoutASwitchGetsNoPoints) {
  Loop loop({.runs = 8, .width = 0.05, .time_budget_s = 1000, .refine_breaks = true}, sizes(),
            {.switch_bytes = 1LL << 40});
  loop.finish();
  EXPECT_EQ(loop.table_.points().size(), 20U);
  EXPECT_EQ(loop.progress_.runs.size(), 6U);
}

TEST(NextRun, ABudgetEndsIt) {
  const Rule rule{.runs = 8, .time_budget_s = 8};  // runs of 1.2 s
  Loop loop(rule, sizes(), {});
  EXPECT_EQ(loop.finish().done, StopReason::time_budget);
  EXPECT_EQ(loop.progress_.runs.size(), 6U);

  Loop short_of_nodes({.runs = 8, .time_budget_s = 1000, .node_budget_s = 16, .nodes = 2}, sizes(),
                      {});
  EXPECT_EQ(short_of_nodes.finish().done, StopReason::node_budget);
  EXPECT_EQ(short_of_nodes.progress_.runs.size(), 6U);

  Loop too_short({.runs = 8, .time_budget_s = 2}, sizes(), {});
  const Next end = too_short.finish();
  EXPECT_EQ(end.done, StopReason::time_budget);
  EXPECT_FALSE(end.usable);
}

// A pilot's few points were reported at once, with what comes once in each run.
TEST(NextRun, AGuessFromAPilotIsTriedBeforeItIsBelieved) {
  const Rule rule{.runs = 8,
                  .pilot = true,
                  .least_points = 60,
                  .core_points = 1000,
                  .all_points = 2000,
                  .time_budget_s = 60};
  Progress progress;
  EXPECT_EQ(next_grid(rule, progress), 60U);
  // 5 ms each it seems: seven runs of 1375 points would take 50 s, of 1500 points 54 s.
  progress.runs.push_back({60, 60, 0.2, 0.5});
  progress.spent_s = 0.5;
  EXPECT_EQ(next_grid(rule, progress), 1375U);
  // 20 ms each: too slow for all of either grid; but a run of 1000 points and six of 60 take 28 s.
  progress.runs[0].duration_s = 1.4;
  EXPECT_EQ(next_grid(rule, progress), 1000U);
  // It takes 2 s, so that six runs of 2000 points do, too.
  progress.runs.push_back({1000, 1000, 0.2, 2});
  progress.spent_s = 2.7;
  EXPECT_EQ(next_grid(rule, progress), 2000U);
  // One that turns out to be slow is followed by runs of a part of its points.
  progress.runs[1].duration_s = 9;
  progress.spent_s = 9.7;
  EXPECT_EQ(next_grid(rule, progress), 762U);
  // A pilot that was slow enough to tell is believed, and nothing is tried that would leave too
  // little time.
  progress.runs.pop_back();
  progress.runs[0].duration_s = 2.3;
  progress.spent_s = 2.3;
  EXPECT_EQ(next_grid(rule, progress), 177U);
  Rule short_of_time = rule;
  short_of_time.time_budget_s = 30;
  progress.runs[0].duration_s = progress.spent_s = 1.4;
  EXPECT_EQ(next_grid(short_of_time, progress), 60U);
}

// The grid grows again when runs turn out to be quicker, as long as enough of them are left.
TEST(NextRun, AGridThatIsAffordableAfterAllIsMeasured) {
  const Rule rule{
      .runs = 8, .least_points = 60, .core_points = 1000, .all_points = 2000, .time_budget_s = 60};
  Progress progress;
  progress.runs = {{2000, 2000, 1, 3}, {60, 60, 1, 1.1}};
  progress.spent_s = 4.1;
  EXPECT_EQ(next_grid(rule, progress), 2000U);
  progress.runs = {{60, 60, 1, 1.1}, {60, 60, 1, 1.1}, {60, 60, 1, 1.1}};
  progress.spent_s = 3.3;
  EXPECT_EQ(next_grid(rule, progress), 60U) << "five runs are not enough";
}

TEST(NextRun, SaysWhatARunIsExpectedToTake) {
  Loop loop({.runs = 8, .time_budget_s = 1000}, sizes(), {});
  EXPECT_EQ(loop.step().expected_s, 0);
  EXPECT_NEAR(loop.step().expected_s, 1.2, 1e-9);
}

TEST(NextRun, ACoarseGridIsNotFollowedByExtraRuns) {
  // 0.01 s a point: not even six runs of all would fit.
  Rule rule{.runs = 8, .width = 0.001, .pilot = true, .least_points = 4, .core_points = 10};
  rule.time_budget_s = 9.3;
  Loop loop(rule, with_noisy(), {.noisy_experiment = 0.3});
  loop.finish();
  for (const FinishedRun& run : loop.progress_.runs) EXPECT_LE(run.points, 10U);
  EXPECT_LE(loop.progress_.runs.size(), 8U);
}

// Points where a curve breaks come later than the grid, and would lack runs to count.
TEST(NextRun, ASwitchThatIsFoundOnACoarseGridGetsItsRuns) {
  std::vector<Point> plan = sizes();
  for (int64_t i = 1; i <= 200; ++i) plan.push_back({"kernel.noisy", "plain", {{"bytes", 8 * i}}});
  // Six runs of all would take 19 s.
  Rule rule{.runs = 6, .width = 0.05, .pilot = true, .least_points = 20, .core_points = 20};
  rule.time_budget_s = 18;
  rule.refine_breaks = true;
  Loop loop(rule, plan, {});
  EXPECT_EQ(loop.finish().done, StopReason::max_runs);
  EXPECT_GT(loop.table_.points().size(), plan.size());
  for (const PointStatus& status : loop.table_.points()) {
    const bool is_measured = status.point.experiment == "micro.latency";
    EXPECT_EQ(status.runs() >= 6, is_measured) << experiment::point_key(status.point);
  }
  EXPECT_GT(loop.progress_.runs.size(), 6U);
  EXPECT_LE(loop.progress_.spent_s, rule.time_budget_s);
}

TEST(Widths, DifferencesCountBesideAnOperation) {
  PointTable table({latency(64), {"micro.serve", "get", {{"bytes", int64_t{64}}}}});
  for (uint32_t run = 1; run <= 6; ++run) {
    const PointResult results[] = {{0, 1e-6, 6, 0}, {1, run % 2 == 0 ? 1e-8 : -1e-8, 6, 0}};
    table.add_run(run, results);
  }
  EXPECT_NEAR(*relative_width(table, 1), 0.04, 1e-9);
  EXPECT_EQ(*relative_width(table, 0), 0);
}

TEST(Breaks, NothingIsAddedWherePointsAreNear) {
  std::vector<Point> points = sizes();
  points.push_back(latency(12000));
  points.push_back(latency(12400));
  PointTable table(points);
  std::vector<PointResult> results;
  for (uint32_t place = 0; place < points.size(); ++place) {
    results.push_back({place, Network().time_s(points[place]), 6, 0});
  }
  table.add_run(1, results);
  EXPECT_TRUE(points_at_breaks(table).empty());
}

TEST(Breaks, TwoSwitchesAreNoSteepLine) {
  // 2 us up to 4 KiB, 20 us from 7,000 B on, and at 5.5 KiB in between: a line, but for streams.
  const auto time_s = [](double bytes) {
    return (bytes <= 4096 ? 2e-6 : bytes < 7000 ? 10e-6 : 20e-6) + 2e-11 * bytes;
  };
  std::vector<Point> points = sizes();
  points.push_back(latency(5568));
  const size_t latencies = points.size();
  for (const int64_t bytes : {64, 4096, 8192, 65536}) {
    for (const int64_t count : {8, 64}) {
      points.push_back({"micro.flood", "get", {{"bytes", bytes}, {"count", count}}});
    }
  }
  PointTable table(points);
  std::vector<PointResult> results;
  for (uint32_t place = 0; place < points.size(); ++place) {
    const double bytes = *experiment::number_param(points[place], "bytes");
    const double each_s = 3e-7 + 2e-11 * bytes;
    const double s = place < latencies ? time_s(bytes)
                                       : time_s(bytes) + each_s * *experiment::number_param(
                                                                      points[place], "count");
    results.push_back({place, s, 6, 0});
  }
  table.add_run(1, results);
  bool is_bracketed = false;
  for (const Point& point : points_at_breaks(table)) {
    const double bytes = *experiment::number_param(point, "bytes");
    is_bracketed = is_bracketed || (bytes > 4096 && bytes < 8192);
  }
  EXPECT_TRUE(is_bracketed);
}

// Sizes of blocking gets that problems of this seed hold out, ascending.
std::vector<int64_t> held_out_sizes(const experiment::HeldOutPoints& held_out) {
  std::vector<int64_t> sizes;
  for (const experiment::HeldOutProblem& problem : held_out.problems()) {
    const Point& point = problem.points.front();
    if (point.experiment != "micro.latency" || point.variant != "get") continue;
    sizes.push_back(static_cast<int64_t>(*experiment::number_param(point, "bytes")));
  }
  std::ranges::sort(sizes);
  return sizes;
}

TEST(Breaks, PointsThatJudgeTheModelBracketNoSwitch) {
  int tried = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const uint64_t seeds[] = {seed};
    const experiment::HeldOutPoints held_out(seeds, 2);
    std::vector<Point> points = sizes();
    const std::vector<int64_t> judging = held_out_sizes(held_out);
    int64_t switch_bytes = 0;
    for (size_t i = 0; i < judging.size(); ++i) {
      points.push_back(latency(judging[i]));
      if (i == 0 || judging[i] < 1000 || judging[i] > 60000) continue;
      const bool apart = std::bit_width(static_cast<uint64_t>(judging[i])) !=
                         std::bit_width(static_cast<uint64_t>(judging[i - 1]));
      if (!apart && static_cast<double>(judging[i] - judging[i - 1]) <= kNearBytes)
        switch_bytes = judging[i];
    }
    if (switch_bytes == 0) continue;
    ++tried;
    PointTable table(points);
    std::vector<PointResult> results;
    for (uint32_t place = 0; place < points.size(); ++place) {
      const Network network{.switch_bytes = switch_bytes};
      results.push_back({place, network.time_s(points[place]), 6, 0});
    }
    table.add_run(1, results);
    EXPECT_TRUE(points_at_breaks(table).empty()) << seed;
    EXPECT_GE(points_at_breaks(table, &held_out).size(), 2U) << seed;
  }
  EXPECT_GT(tried, 2);
}

}  // namespace
}  // namespace stripline::campaign
