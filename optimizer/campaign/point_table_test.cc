#include "optimizer/campaign/point_table.h"

#include <gtest/gtest.h>

namespace stripline::campaign {
namespace {

experiment::Point point(int64_t bytes) { return {"micro.latency", "get", {{"bytes", bytes}}}; }

TEST(PointTable, FindsPointsByWhatTheyAre) {
  PointTable table({point(8), point(16)});
  EXPECT_EQ(table.find(point(16)), 1U);
  EXPECT_EQ(table.find({"micro.latency", "get", {{"bytes", 16.0}}}), 1U);
  EXPECT_EQ(table.find(point(12)), std::nullopt);
  EXPECT_EQ(table.add(point(12)), 2U);
  EXPECT_EQ(table.find(point(12)), 2U);
}

TEST(PointTable, PointsAreKnownByTheirRunMedians) {
  PointTable table({point(8), point(16)});
  EXPECT_EQ(estimate_of(table.points()[0], 0.95), std::nullopt);
  for (uint32_t run = 1; run <= 7; ++run) {
    const PointResult results[] = {{0, 1e-6 * run, 6, 0}, {1, 0, 0, 0}};
    table.add_run(run, results);
    const auto estimate = *estimate_of(table.points()[0], 0.95);
    EXPECT_EQ(estimate.low.has_value(), run > 1);
  }
  const PointStatus& known = table.points()[0];
  EXPECT_EQ(known.runs(), 7U);
  EXPECT_EQ(known.samples, 42U);
  // Seven runs: the smallest and the largest median.
  EXPECT_EQ(*estimate_of(known, 0.95), (Estimate{4e-6, 1e-6, 7e-6}));
  const PointStatus& unknown = table.points()[1];
  EXPECT_EQ(unknown.runs(), 7U);
  EXPECT_EQ(unknown.failed, 7U);
  EXPECT_EQ(estimate_of(unknown, 0.95), std::nullopt);
}

TEST(PointTable, SeriesAreSummedUp) {
  experiment::SampleSeries series;
  series.point = point(8);
  series.values = {3, 1, 2};
  EXPECT_EQ(result_of(series, 5).samples, 0U);  // not verified
  series.verified = true;
  const PointResult result = result_of(series, 5);
  EXPECT_EQ(result.place, 5U);
  EXPECT_EQ(result.median, 2);
  EXPECT_EQ(result.samples, 3U);
  series.values.clear();
  EXPECT_EQ(result_of(series, 5).samples, 0U);
}

}  // namespace
}  // namespace stripline::campaign
