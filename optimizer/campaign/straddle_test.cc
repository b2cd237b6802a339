#include "optimizer/campaign/straddle.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "optimizer/campaign/replay.h"

namespace stripline::campaign {
namespace {

using experiment::Point;

// Two methods over a plane of sizes: packing costs by the byte, the other one by the region.
double time_s(double region, double bytes, bool packed) {
  return packed ? 4e-6 + 1.2e-9 * bytes : 2e-6 + 1e-7 * bytes / region + 8e-10 * bytes;
}

std::vector<Point> plane() {
  std::vector<Point> points;
  for (int64_t region = 8; region <= 4096; region *= 2) {
    for (int64_t bytes = 2048; bytes <= 262144; bytes *= 2) {
      for (const char* method : {"pipelined", "packed"}) {
        points.push_back({"micro.vis", method, {{"region_bytes", region}, {"bytes", bytes}}});
      }
    }
  }
  return points;
}

PointResult result(const Point& point, uint32_t place) {
  const double median =
      time_s(*experiment::number_param(point, "region_bytes"),
             *experiment::number_param(point, "bytes"), point.variant == "packed");
  return {place, median, 6, 6 * median};
}

Recording recorded(uint32_t runs) {
  Recording recording;
  recording.points = plane();
  for (uint32_t run = 1; run <= runs; ++run) {
    for (uint32_t place = 0; place < recording.points.size(); ++place) {
      recording.runs[run][place] = result(recording.points[place], place);
    }
  }
  return recording;
}

void measure(PointTable& table, uint32_t run, const std::vector<uint32_t>& places) {
  std::vector<PointResult> results;
  for (const uint32_t place : places) {
    results.push_back(result(table.points()[place].point, place));
  }
  table.add_run(run, results);
}

bool is_right(const PointTable& table, const Choice& choice) {
  const auto leader = expected_leader(table, choice);
  if (!leader) return false;
  double best = 1;
  for (const uint32_t place : choice.places) {
    best = std::min(best, result(table.points()[place].point, place).median);
  }
  return result(table.points()[*leader].point, *leader).median <= 1.03 * best;
}

TEST(Straddle, APlaneIsWhatDiffersInSizesAlone) {
  const PointTable table(plane());
  const auto planes = planes_of(table);
  ASSERT_EQ(planes.size(), 1U);
  EXPECT_EQ(planes[0].cells.size(), 80U);
  EXPECT_EQ(planes[0].cells[0].at.size(), 2U);
  EXPECT_EQ(planes[0].cells[0].choice.places.size(), 2U);
}

TEST(Straddle, AFirstRunMeasuresEveryOtherSize) {
  const PointTable table(plane());
  const auto places = sparse_places(table);
  EXPECT_EQ(places.size(), 2U * 6 * 5);  // of 10 and 8 sizes, with the last ones
  const PointTable few(
      {{"micro.vis", "packed", {{"region_bytes", int64_t{8}}, {"bytes", int64_t{64}}}},
       {"micro.vis", "pipelined", {{"region_bytes", int64_t{8}}, {"bytes", int64_t{64}}}},
       {"micro.latency", "get", {{"bytes", int64_t{8}}}}});
  EXPECT_EQ(sparse_places(few).size(), 3U);
}

// What is measured next lies near the boundary, and what is left is decided rightly.
TEST(Straddle, MeasuresNearTheBoundary) {
  PointTable table(plane());
  measure(table, 1, sparse_places(table));
  const auto choices = choices_of(table);
  uint32_t run = 1;
  size_t more = 0;
  double farthest = 0;
  for (auto open = uncertain_choices(table); !open.empty(); open = uncertain_choices(table)) {
    std::vector<uint32_t> places;
    for (const Uncertain& one : open) {
      EXPECT_GT(one.seconds, 0);
      ++more;
      places.insert(places.end(), one.choice.places.begin(), one.choice.places.end());
      const double a = result(table.points()[one.choice.places[0]].point, 0).median;
      const double b = result(table.points()[one.choice.places[1]].point, 0).median;
      farthest = std::max(farthest, std::abs(std::log(a / b)));
    }
    measure(table, ++run, places);
    ASSERT_LT(run, 30U);
  }
  EXPECT_LT(more, 25U);  // of 50
  EXPECT_LT(farthest, 1.2);
  const auto right =
      std::ranges::count_if(choices, [&](const Choice& choice) { return is_right(table, choice); });
  EXPECT_GE(right, static_cast<std::ptrdiff_t>(choices.size()) - 1);
}

TEST(Straddle, NothingIsExpectedOfWhatNobodyMeasured) {
  const PointTable table(plane());
  EXPECT_EQ(expected_leader(table, choices_of(table)[0]), std::nullopt);
  EXPECT_TRUE(uncertain_choices(table).empty());
}

TEST(Straddle, TakesFewerSecondsThanARaceOfAll) {
  const Recording recording = recorded(12);
  const auto race = replay(recording, {.strategy = Strategy::race});
  const auto straddle = replay(recording, {.strategy = Strategy::straddle});
  ASSERT_TRUE(race.ok() && straddle.ok());
  EXPECT_LT(straddle->seconds, 0.8 * race->seconds);
  EXPECT_LE(straddle->worst_regret, 0.05);
  EXPECT_GE(straddle->near + 1, straddle->choices);
}

}  // namespace
}  // namespace stripline::campaign
