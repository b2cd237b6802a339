#include "server/core/campaigns/grid.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "server/testing/experiments.h"

namespace stripline::server {
namespace {

using experiment::Point;

std::set<double> values_of(const std::vector<Point>& points, const std::string& experiment,
                           const char* factor) {
  std::set<double> values;
  for (const Point& point : points) {
    if (point.experiment == experiment) values.insert(*number_param(point, factor));
  }
  return values;
}

std::vector<Point> pruned_points(const std::vector<experiment::Experiment>& experiments,
                                 const GridLimits& limits) {
  return grid_points(prune(experiments, limits));
}

TEST(Grid, WithoutLimitsItIsTheProductOfVariantsAndFactors) {
  const auto points = pruned_points(
      {declared("e", {powers("bytes", "B", 8, 32), powers("count", "1", 1, 2)}, {"a", "b"}, {})},
      {});
  EXPECT_EQ(points.size(), 3U * 2 * 2);
  std::set<std::string> keys;
  for (const Point& point : points) keys.insert(point_key(point));
  EXPECT_EQ(keys.size(), points.size());
  EXPECT_TRUE(keys.contains("e/b?bytes=16&count=2")) << *keys.begin();
}

TEST(Grid, AnExperimentWithoutFactorsHasOnePointPerVariant) {
  EXPECT_EQ(pruned_points({declared("e", {}, {"a", "b"}, {})}, {}).size(), 2U);
}

TEST(Grid, BurstsKeepFourSizesHoweverFewCountsAreLeft) {
  const std::vector<experiment::Experiment> all = {
      declared("micro.issue", {powers("burst", "1", 1, 256)}, {"a"}, {}),
      declared("micro.flood", {powers("count", "1", 1, 256)}, {"a"}, {})};
  const auto points = pruned_points(all, {.counts = 2});
  EXPECT_EQ(values_of(points, "micro.issue", "burst"), (std::set<double>{1, 8, 32, 256}));
  EXPECT_EQ(values_of(points, "micro.flood", "count"), (std::set<double>{1, 256}));
  EXPECT_EQ(values_of(pruned_points(all, {.counts = 5}), "micro.issue", "burst").size(), 5U);
}

TEST(Grid, SizesAreThinnedOnALatticeThatExperimentsShare) {
  // The second grid starts elsewhere; thinning each by itself would share no size.
  const auto points =
      pruned_points({declared("long", {powers("bytes", "B", 8, 4 << 20)}, {"a"}, {}),
                     declared("short", {powers("bytes", "B", 16, 256 << 10)}, {"a"}, {})},
                    {.sizes = 7});
  const auto first = values_of(points, "long", "bytes");
  const auto second = values_of(points, "short", "bytes");
  EXPECT_LE(first.size(), 9U);
  EXPECT_GE(first.size(), 7U);
  EXPECT_TRUE(first.contains(8) && first.contains(4 << 20));
  EXPECT_TRUE(second.contains(16) && second.contains(256 << 10));
  for (const double size : second) {
    EXPECT_TRUE(size == 16 || size == 256 << 10 || first.contains(size)) << size;
  }
  EXPECT_GE(second.size(), 5U);
}

TEST(Grid, AGridOfOtherSizesIsThinnedByItself) {
  const auto points =
      pruned_points({declared("powers", {powers("bytes", "B", 8, 4 << 20)}, {"a"}, {}),
                     declared("thirds", {powers("bytes", "B", 12, 3 << 20)}, {"a"}, {})},
                    {.sizes = 6});
  EXPECT_EQ(values_of(points, "thirds", "bytes").size(), 6U);
}

TEST(Grid, SizeZeroIsACaseOfItsOwn) {
  experiment::Factor footprint = powers("bytes", "B", 4096, 64 << 20);
  footprint.values[1] = int64_t{0};
  const auto points = pruned_points({declared("e", {footprint}, {"a"}, {})}, {.sizes = 4});
  EXPECT_TRUE(values_of(points, "e", "bytes").contains(0));
}

TEST(Grid, ShortGridsAndNamesStayWhole) {
  experiment::Factor kind{.name = "kind", .values = {std::string("x"), std::string("y")}};
  const auto points = pruned_points({declared("e", {powers("bytes", "B", 8, 64), kind}, {"a"}, {})},
                                    {.sizes = 4, .counts = 1});
  EXPECT_EQ(points.size(), 4U * 2);
}

TEST(Grid, CountsKeepTheirEnds) {
  const auto points =
      pruned_points({declared("e", {powers("burst", "1", 1, 256)}, {"a"}, {})}, {.counts = 4});
  const auto bursts = values_of(points, "e", "burst");
  EXPECT_EQ(bursts.size(), 4U);
  EXPECT_TRUE(bursts.contains(1) && bursts.contains(256));
}

TEST(Grid, LargeRepetitionsAreLeftOut) {
  const auto points = pruned_points(
      {declared("e", {powers("bytes", "B", 8, 4 << 20), powers("burst", "1", 1, 256)}, {"a"}, {}),
       declared("single", {powers("bytes", "B", 8, 4 << 20)}, {"a"}, {})},
      {.max_bytes_per_repetition = 1 << 20});
  EXPECT_EQ(*values_of(points, "e", "bytes").rbegin(), 4096);
  EXPECT_EQ(*values_of(points, "e", "burst").rbegin(), 256);
  EXPECT_EQ(*values_of(points, "single", "bytes").rbegin(), 1 << 20);
}

TEST(Grid, ALimitNeverEmptiesAnExperiment) {
  const auto points =
      pruned_points({declared("e", {powers("bytes", "B", 1 << 20, 4 << 20)}, {"a"}, {})},
                    {.max_bytes_per_repetition = 1});
  EXPECT_EQ(points.size(), 3U);
}

TEST(Grid, PruningTwiceGivesASubset) {
  const auto all = prune(test_experiments(), {.sizes = 12, .counts = 5});
  const auto points = grid_points(all);
  const auto core = pruned_points(all, {.sizes = 6, .counts = 3});
  EXPECT_LT(core.size(), 2 * points.size() / 3);
  for (const Point& point : core) {
    EXPECT_NE(std::ranges::find(points, point), points.end()) << point_key(point);
  }
}

}  // namespace
}  // namespace stripline::server
