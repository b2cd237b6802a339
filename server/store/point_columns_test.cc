#include "server/store/point_columns.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace stripline::server {
namespace {

TEST(PointColumns, HaveEachValueOnceAndItsPlaceForEachPoint) {
  PointColumns columns("micro.latency");
  ASSERT_TRUE(
      columns.add({3, "put", R"({"bytes":8,"mode":"x"})", 2, 1, 5, 1.23456789e-6, 1e-6, 2e-6})
          .ok());
  ASSERT_TRUE(columns.add({7, "get", R"({"bytes":8})", 0, 0, 0, {}, {}, {}}).ok());
  ASSERT_TRUE(columns.add({8, "put", R"({"bytes":64,"mode":"y\"z"})", 1, 0, 3, 2.0, {}, {}}).ok());
  EXPECT_EQ(columns.size(), 3U);
  const Json json = Json::parse(columns.json());
  EXPECT_EQ(json.at("experiment"), "micro.latency");
  EXPECT_EQ(json.at("place"), Json({3, 7, 8}));
  EXPECT_EQ(json.at("variant"), Json({{"values", {"put", "get"}}, {"of", {0, 1, 0}}}));
  EXPECT_EQ(json.at("params").at("bytes"), Json({{"values", {8, 64}}, {"of", {0, 0, 1}}}));
  EXPECT_EQ(json.at("params").at("mode"), Json({{"values", {"x", "y\"z"}}, {"of", {0, -1, 1}}}));
  EXPECT_EQ(json.at("runs"), Json({1, 0, 1})) << "without those that failed";
  EXPECT_EQ(json.at("failed"), Json({1, 0, 0}));
  EXPECT_EQ(json.at("samples"), Json({5, 0, 3}));
  EXPECT_DOUBLE_EQ(json.at("median")[0].get<double>(), 1.23457e-6);
  EXPECT_TRUE(json.at("median")[1].is_null() && json.at("low")[2].is_null());
}

TEST(PointColumns, OfNoPointAreEmpty) {
  const Json json = Json::parse(PointColumns("x").json());
  EXPECT_TRUE(json.at("place").empty() && json.at("params").empty());
}

TEST(PointColumns, RefuseWhatIsNotAPoint) {
  PointColumns columns("x");
  EXPECT_FALSE(columns.add({0, "put", "[1]", 0, 0, 0, {}, {}, {}}).ok());
  EXPECT_FALSE(columns.add({0, "put", "{", 0, 0, 0, {}, {}, {}}).ok());
}

}  // namespace
}  // namespace stripline::server
