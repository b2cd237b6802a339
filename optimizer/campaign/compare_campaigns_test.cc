#include "optimizer/campaign/compare_campaigns.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace stripline::campaign {
namespace {

using experiment::Point;

Point of_size(int64_t bytes) { return {"micro.latency", "get", {{"bytes", bytes}}}; }

// The points with these medians in each run.
MedianTable table(const std::vector<std::pair<Point, std::vector<double>>>& points) {
  PointTable table;
  for (const auto& [point, medians] : points) {
    const uint32_t place = table.add(point);
    for (uint32_t run = 0; run < medians.size(); ++run) {
      table.add_run(run + 1, std::vector<PointResult>{{place, medians[run], 6, 0.01}});
    }
  }
  return MedianTable(table);
}

std::string verdict(const std::vector<double>& a, const std::vector<double>& b) {
  const auto compared = compare_campaigns(table({{of_size(8), a}}), table({{of_size(8), b}}));
  return std::string(verdict_text(compared.points.at(0)));
}

TEST(CompareCampaigns, SaysWhichIsFaster) {
  const std::vector<double> ten = {10, 10.1, 9.9, 10.05, 9.95, 10};
  const std::vector<double> eight = {8, 8.1, 7.9, 8.05, 7.95, 8};
  EXPECT_EQ(verdict(ten, eight), "FASTER");
  EXPECT_EQ(verdict(eight, ten), "SLOWER");
  EXPECT_EQ(verdict(ten, {10.04, 10.1, 9.9, 10.05, 9.95, 10}), "EQUIVALENT");
  EXPECT_EQ(verdict(ten, {8, 13, 9, 12, 7, 14}), "INCONCLUSIVE");
  EXPECT_EQ(verdict(ten, {5}), "INCONCLUSIVE") << "a single run has no interval";
  const auto single = compare_campaigns(table({{of_size(8), ten}}), table({{of_size(8), {5}}}));
  EXPECT_EQ(single.why(single.points.at(0)), "a single run has no interval");
  EXPECT_EQ(verdict(ten, {}), "INCOMPARABLE");
}

TEST(CompareCampaigns, TellsTheRatioAndItsInterval) {
  const auto points = compare_campaigns(table({{of_size(8), {10, 10.2, 9.8}}}),
                                        table({{of_size(8), {5, 5.1, 4.9, 5}}}))
                          .points;
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].a_runs, 3U);
  EXPECT_EQ(points[0].b_runs, 4U);
  EXPECT_DOUBLE_EQ(*points[0].a_median, 10);
  EXPECT_DOUBLE_EQ(*points[0].b_median, 5);
  EXPECT_NEAR(*points[0].ratio, 0.5, 1e-3);
  EXPECT_LT(points[0].low, 0.5);
  EXPECT_GT(points[0].high, 0.5);
  EXPECT_LT(points[0].p_value, 1e-3);
}

TEST(CompareCampaigns, WhatIsNotTheSameIsNotCompared) {
  const MedianTable a = table({{of_size(8), {1, 1}}, {of_size(16), {1, 1}}});
  const MedianTable b = table({{of_size(16), {1, 1}}, {of_size(32), {1, 1}}});
  const Comparison compared = compare_campaigns(a, b);
  const auto& points = compared.points;
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(compared.why(points[0]), "only the baseline measures it");
  EXPECT_EQ(verdict_text(points[1]), "EQUIVALENT");
  EXPECT_EQ(compared.why(points[1]), "");
  EXPECT_EQ(compared.why(points[2]), "only the other campaign measures it");
  EXPECT_EQ(compared.experiment(points[2]), "micro.latency");
  EXPECT_EQ(compared.variant(points[2]), "get");
  EXPECT_EQ(compared.params_json(points[2]), R"({"bytes":32})");
  ComparisonTerms terms;
  terms.other_experiments["micro.latency"] = "version 1 and version 2";
  const Comparison others = compare_campaigns(a, b, terms);
  EXPECT_EQ(others.why(others.points.at(1)), "version 1 and version 2");
  EXPECT_EQ(verdict_text(others.points.at(1)), "INCOMPARABLE");
}

// Grids have more points than a budget measures.
TEST(CompareCampaigns, WhatNeitherHasMeasuredIsLeftOut) {
  const auto compared =
      compare_campaigns(table({{of_size(8), {1, 1}}, {of_size(16), {}}, {of_size(32), {1, 1}}}),
                        table({{of_size(8), {1, 1}}, {of_size(16), {}}, {of_size(64), {}}}));
  ASSERT_EQ(compared.points.size(), 2U);
  EXPECT_EQ(compared.params_json(compared.points[0]), R"({"bytes":8})");
  EXPECT_EQ(compared.why(compared.points[1]), "only the baseline measures it");
}

// Two campaigns of the same grid, the second with one point more: what the comparison itself takes.
TEST(CompareCampaigns, HundredsOfThousandsOfPointsTakeLittleMemory) {
  constexpr uint32_t kPoints = 250'000;
  const auto measured = [](double by, bool with_another) {
    MedianTable table;
    for (uint32_t i = 0; i < kPoints; ++i) {
      const std::string params = R"({"bytes":)" + std::to_string(i) + R"(,"window":16})";
      const std::vector<double> medians = {by * (1 + i % 7), by * (1.01 + i % 7)};
      table.add("micro.latency", i % 2 == 0 ? "get" : "put", params, medians);
      if (with_another && i == 0) table.add("micro.latency", "am", params, medians);
    }
    return table;
  };
  const Comparison compared = compare_campaigns(measured(1e-6, false), measured(2e-6, true));
  ASSERT_EQ(compared.points.size(), kPoints + 1);
  EXPECT_EQ(std::ranges::count(compared.points, "SLOWER", verdict_text), kPoints);
  EXPECT_EQ(compared.why(compared.points.back()), "only the other campaign measures it");
  EXPECT_LT(compared.a.bytes(), size_t{30} << 20);
  EXPECT_LT(compared.b.bytes(), size_t{30} << 20);
  EXPECT_LT(compared.points.capacity() * sizeof(ComparedPoint), size_t{40} << 20);
}

// A campaign against another of the same network, with the noise and the runs of budgeted ones.
TEST(CompareCampaigns, EqualsAreEquivalentAndSayWhatCouldHaveBeenSeen) {
  constexpr int64_t kPoints = 2000;
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 0.03);
  const auto measured = [&](double by) {
    std::vector<std::pair<Point, std::vector<double>>> points;
    for (int64_t i = 0; i < kPoints; ++i) {
      std::vector<double> medians;
      for (int run = 0; run < 8; ++run) medians.push_back(by * std::exp(noise(random)));
      points.emplace_back(of_size(i), medians);
    }
    return table(points);
  };
  const auto share = [](const std::vector<ComparedPoint>& points, std::string_view verdict) {
    return static_cast<double>(std::ranges::count(points, verdict, verdict_text)) /
           static_cast<double>(points.size());
  };
  const MedianTable a = measured(1);
  const auto equals = compare_campaigns(a, measured(1)).points;
  EXPECT_GT(share(equals, "EQUIVALENT"), 0.8);
  EXPECT_LT(share(equals, "FASTER") + share(equals, "SLOWER"), 0.005);
  // Two one-sided tests at 5 % call this many of those equivalent that differ by the margin.
  EXPECT_LT(share(compare_campaigns(a, measured(1 + kPointMargin)).points, "EQUIVALENT"), 0.07);
  // What is said to be seen in four of five cases is.
  double detectable = 0;
  for (const ComparedPoint& point : equals) detectable += *point.detectable / kPoints;
  EXPECT_NEAR(detectable, 0.045, 0.01);
  const auto differ = compare_campaigns(a, measured(1 + detectable), {.margin = 1e-6}).points;
  EXPECT_NEAR(share(differ, "SLOWER"), 0.8, 0.05);
}

TEST(CompareCampaigns, DifferencesOfTimesMayBeNegative) {
  EXPECT_EQ(verdict({-1, -1.1, -0.9, -1}, {3, 3.1, 2.9, 3}), "SLOWER");
  EXPECT_EQ(verdict({-1, 1, -1, 1}, {0, 1, -1, 0.5}), "INCONCLUSIVE");
}

// Few of the points that are called faster or slower are not so, however many points
// there are; and most of what differs is found.
TEST(CompareCampaigns, FewDiscoveriesAreFalse) {
  constexpr int kCampaigns = 200;
  constexpr int64_t kPoints = 200;
  constexpr int64_t kDiffer = 40;  // the first ones, by a tenth
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(0, 0.03);
  double share = 0;  // of false ones among the discoveries, summed over the pairs of campaigns
  double squares = 0;
  int64_t found = 0;
  for (int pair = 0; pair < kCampaigns; ++pair) {
    const auto measured = [&](bool other, int runs) {
      std::vector<std::pair<Point, std::vector<double>>> points;
      for (int64_t i = 0; i < kPoints; ++i) {
        std::vector<double> medians;
        for (int run = 0; run < runs; ++run) {
          medians.push_back((other && i < kDiffer ? 1.1 : 1.0) * std::exp(noise(random)));
        }
        points.emplace_back(of_size(i), medians);
      }
      return table(points);
    };
    const auto compared = compare_campaigns(measured(false, 8), measured(true, 6));
    int64_t discoveries = 0;
    int64_t wrong = 0;
    for (const ComparedPoint& point : compared.points) {
      if (point.verdict != stats::Verdict::faster && point.verdict != stats::Verdict::slower) {
        continue;
      }
      ++discoveries;
      const bool differs = *point.a < kDiffer;
      if (!differs || point.verdict == stats::Verdict::faster) ++wrong;
      if (differs) ++found;
    }
    const double one =
        discoveries == 0 ? 0 : static_cast<double>(wrong) / static_cast<double>(discoveries);
    share += one;
    squares += one * one;
  }
  const double mean = share / kCampaigns;
  const double error = std::sqrt((squares / kCampaigns - mean * mean) / kCampaigns);
  EXPECT_LE(mean, 0.05 + 2 * error) << mean << " +- " << error;
  EXPECT_GT(static_cast<double>(found) / (kCampaigns * kDiffer), 0.9);
  RecordProperty("false_discovery_rate", std::to_string(mean));
}

}  // namespace
}  // namespace stripline::campaign
