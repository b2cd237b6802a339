#include "optimizer/campaign/median_table.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace stripline::campaign {
namespace {

using Places = std::vector<std::optional<uint32_t>>;

MedianTable with_params(const std::vector<std::string>& params) {
  MedianTable table;
  for (const std::string& one : params) table.add("micro.latency", "get", one, {});
  return table;
}

TEST(MedianTable, HasWhatAPointTableHas) {
  PointTable points;
  points.add({"micro.latency", "get", {{"bytes", int64_t{8}}, {"same_node", std::string("cma")}}});
  points.add({"micro.am", "am", {{"share", 0.5}}});
  points.add_run(2, std::vector<PointResult>{{0, 3, 6, 0.01}});
  points.add_run(1, std::vector<PointResult>{{0, 4, 6, 0.01}, {1, 0, 0, 0.01}});
  const MedianTable medians(points);
  ASSERT_EQ(medians.size(), 2U);
  EXPECT_EQ(medians.experiment(0), "micro.latency");
  EXPECT_EQ(medians.variant(0), "get");
  EXPECT_EQ(medians.params_json(0), R"({"bytes":8,"same_node":"cma"})");
  EXPECT_TRUE(std::ranges::equal(medians.medians(0), std::vector<double>{4, 3}));
  EXPECT_EQ(medians.experiment(1), "micro.am");
  EXPECT_EQ(medians.params_json(1), R"({"share":0.5})");
  EXPECT_TRUE(medians.medians(1).empty()) << "its only run failed";
}

TEST(MedianTable, FindsThePointsOfAnother) {
  const MedianTable a = with_params({R"({"bytes":8})", R"({"bytes":16})", R"({"bytes":32})", "{}"});
  EXPECT_EQ(a.places_of(a), (Places{0, 1, 2, 3}));
  EXPECT_EQ(
      a.places_of(with_params({R"({"bytes":32})", R"({"bytes":64})", "{}", R"({"bytes":8})"})),
      (Places{2, std::nullopt, 3, 0}));
  EXPECT_EQ(a.places_of(with_params({R"({"bytes":"8"})", R"({"size":8})"})),
            (Places{std::nullopt, std::nullopt}));
  EXPECT_EQ(MedianTable().places_of(a), Places(4));
  EXPECT_TRUE(a.places_of(MedianTable()).empty());
  MedianTable other;
  other.add("micro.latency", "put", R"({"bytes":8})", {});
  other.add("micro.am", "get", R"({"bytes":8})", {});
  EXPECT_EQ(a.places_of(other), Places(2));
}

// As point_key() has it.
TEST(MedianTable, AnIntegerIsTheNumberOfTheSameValue) {
  const MedianTable a = with_params({R"({"x":8.0})", R"({"x":0.5})", R"({"x":9007199254740993})"});
  EXPECT_EQ(a.places_of(with_params({R"({"x":8})", R"({"x":5e-1})", R"({"x":9007199254740992})"})),
            (Places{0, 1, std::nullopt}));
}

}  // namespace
}  // namespace stripline::campaign
