#include "server/doors/comparison_pieces.h"

#include <memory>

#include <gtest/gtest.h>

#include "base/json.h"

namespace stripline::server {
namespace {

// 8 bytes were measured faster, 16 by one side alone, and a point of other parameters once.
ComparedCampaigns compared() {
  campaign::MedianTable a;
  a.add("micro.latency", "get", R"({"bytes":8})", std::vector<double>{1e-6, 1.01e-6, 0.99e-6});
  a.add("micro.latency", "get", R"({"bytes":16})", std::vector<double>{2e-6, 2e-6});
  a.add("micro.am", "am", R"({"mode":"x\"y"})", std::vector<double>{3e-6});
  campaign::MedianTable b;
  b.add("micro.latency", "get", R"({"bytes":8})", std::vector<double>{5e-7, 5.1e-7, 4.9e-7});
  b.add("micro.am", "am", R"({"mode":"x\"y"})", std::vector<double>{3e-6});
  return {campaign::compare_campaigns(std::move(a), std::move(b)), {{"fabric", "tcp", "shm"}}};
}

template <typename Pieces>
std::string text_of(ComparedCampaigns of) {
  CallLimits limits;
  Pieces pieces(limits, "users/a", std::move(of));
  std::string text;
  while (const auto piece = pieces.next()) text += *piece;
  return text;
}

// The value of a row in a column whose values are placed; null: it has none.
Json placed(const Json& column, size_t row) {
  const int place = column.at("of").at(row).get<int>();
  return place < 0 ? Json() : column.at("values").at(static_cast<size_t>(place));
}

TEST(ComparisonColumns, SayWhatRowsDo) {
  const Json rows = Json::parse(text_of<ComparisonRows>(compared()));
  const Json columns = Json::parse(text_of<ComparisonColumns>(compared()));
  EXPECT_EQ(columns.at("differences"), rows.at("differences"));
  ASSERT_EQ(rows.at("points").size(), 3U);
  for (size_t row = 0; row < 3; ++row) {
    const Json& point = rows.at("points")[row];
    for (const char* name : {"experiment", "variant", "verdict", "why"}) {
      EXPECT_EQ(placed(columns.at(name), row), point.at(name)) << row << " " << name;
    }
    for (const auto& [name, column] : columns.at("params").items()) {
      const Json value = placed(column, row);
      ASSERT_EQ(value.is_null(), !point.at("params").contains(name)) << row << " " << name;
      if (value.is_null()) continue;
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      EXPECT_EQ(text, point.at("params").at(name));
    }
    for (const char* name : {"baseline_runs", "candidate_runs"}) {
      EXPECT_EQ(columns.at(name).at(row), point.at(name));
    }
    for (const char* name :
         {"baseline_median", "candidate_median", "ratio", "low", "high", "p_value", "detectable"}) {
      const Json& value = columns.at(name).at(row);
      ASSERT_EQ(value.is_null(), !point.contains(name)) << row << " " << name;
      if (value.is_null()) continue;
      const double exact = point.at(name).get<double>();
      EXPECT_NEAR(value.get<double>(), exact, 1e-5 * exact) << row << " " << name;
    }
  }
  EXPECT_EQ(placed(columns.at("verdict"), 0), "FASTER");
  EXPECT_EQ(placed(columns.at("verdict"), 1), "INCOMPARABLE");
  EXPECT_EQ(placed(columns.at("params").at("mode"), 2), "x\"y");
}

TEST(ComparisonColumns, OfNoPointAreEmpty) {
  const Json columns = Json::parse(text_of<ComparisonColumns>({}));
  EXPECT_TRUE(columns.at("params").empty() && columns.at("ratio").empty());
  EXPECT_EQ(columns.at("verdict"), Json({{"of", Json::array()}, {"values", Json::array()}}));
}

TEST(ComparisonColumns, WhatCannotBeReadIsNotAnswered) {
  campaign::MedianTable a;
  a.add("micro.latency", "get", "[8", std::vector<double>{1e-6});
  const ComparedCampaigns broken{campaign::compare_campaigns(a, {}), {}};
  EXPECT_EQ(text_of<ComparisonColumns>(broken), "");
  EXPECT_FALSE(Json::accept(text_of<ComparisonRows>(broken)));
}

// A column is sent in more pieces than one.
TEST(ComparisonColumns, HaveManyPoints) {
  constexpr size_t kPoints = 50'000;
  campaign::MedianTable a;
  for (size_t i = 0; i < kPoints; ++i) {
    const double median_s = 1e-6 * static_cast<double>(1 + i);
    a.add("micro.latency", "get", R"({"bytes":)" + std::to_string(i) + "}", {&median_s, 1});
  }
  const Json columns =
      Json::parse(text_of<ComparisonColumns>({campaign::compare_campaigns(std::move(a), {}), {}}));
  ASSERT_EQ(columns.at("baseline_median").size(), kPoints);
  EXPECT_DOUBLE_EQ(columns.at("baseline_median").back().get<double>(), 0.05);
  EXPECT_EQ(columns.at("params").at("bytes").at("values").size(), kPoints);
  EXPECT_EQ(columns.at("params").at("bytes").at("of").back(), kPoints - 1);
}

}  // namespace
}  // namespace stripline::server
