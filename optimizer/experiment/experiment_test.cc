#include "optimizer/experiment/experiment.h"

#include <limits>

#include <gtest/gtest.h>

namespace stripline::experiment {
namespace {

Experiment declaration() {
  Experiment e;
  e.name = "micro.example";
  e.factors = {
      {"bytes", "B", "Payload", {int64_t{8}, int64_t{64}}, 1, 1 << 20},
      {"ratio", "1", "A ratio", {0.5, 1.0}, 0, std::nullopt},
      {"mode",
       "",
       "A name",
       {std::string("cold"), std::string("warm")},
       std::nullopt,
       std::nullopt},
  };
  e.variants = {"get", "put"};
  e.metric = {"time", "s", true};
  return e;
}

TEST(PointKey, IsStableAndReadable) {
  const Point point{"micro.latency", "get", {{"bytes", int64_t{64}}, {"alpha", 0.25}}};
  EXPECT_EQ(point_key(point), "micro.latency/get?alpha=0.25&bytes=64");
  EXPECT_EQ(point_key({"micro.alu", "red_in", {}}), "micro.alu/red_in");
}

TEST(PointKey, SeparatesTextFromNumbersAndEscapesReservedBytes) {
  const Point number{"e", "v", {{"k", int64_t{64}}}};
  const Point text{"e", "v", {{"k", std::string("64")}}};
  EXPECT_NE(point_key(number), point_key(text));
  const Point two{"e", "v", {{"k", std::string("a&m=b")}}};
  const Point other{"e", "v", {{"k", std::string("a")}, {"m", std::string("b")}}};
  EXPECT_NE(point_key(two), point_key(other));
  EXPECT_EQ(point_key(two), "e/v?k=a%26m%3db");
}

TEST(PointKey, IsEqualForEqualPointsOnly) {
  const Point zero{"e", "v", {{"k", 0.0}}};
  const Point minus_zero{"e", "v", {{"k", -0.0}}};
  ASSERT_EQ(zero, minus_zero);
  EXPECT_EQ(point_key(zero), point_key(minus_zero));
  EXPECT_NE(point_key({"a/b", "c", {}}), point_key({"a", "b/c", {}}));
  EXPECT_NE(point_key({"e", "v?k=1", {}}), point_key({"e", "v", {{"k", int64_t{1}}}}));
}

TEST(Params, AreReadByKind) {
  const Point point{"e", "v", {{"i", int64_t{3}}, {"d", 0.5}, {"t", std::string("x")}}};
  EXPECT_EQ(number_param(point, "i"), 3.0);
  EXPECT_EQ(number_param(point, "d"), 0.5);
  EXPECT_EQ(number_param(point, "t"), std::nullopt);
  EXPECT_EQ(number_param(point, "none"), std::nullopt);
  EXPECT_EQ(text_param(point, "t"), "x");
  EXPECT_EQ(text_param(point, "i"), std::nullopt);
}

TEST(CompletePoint, FillsDefaultsAndNormalisesKinds) {
  Point point{"micro.example", "put", {{"bytes", 64.0}, {"ratio", int64_t{2}}}};
  EXPECT_EQ(complete_point(declaration(), point), std::nullopt);
  const Point expected{"micro.example",
                       "put",
                       {{"bytes", int64_t{64}}, {"ratio", 2.0}, {"mode", std::string("cold")}}};
  EXPECT_EQ(point, expected);
}

TEST(CompletePoint, NamesWhatIsWrongAndWhatIsAccepted) {
  const auto problem = [](std::string variant, Params params) {
    Point point{"micro.example", std::move(variant), std::move(params)};
    return complete_point(declaration(), point).value_or("accepted");
  };
  EXPECT_NE(problem("am", {}).find("use one of get, put"), std::string::npos);
  EXPECT_NE(problem("get", {{"size", int64_t{1}}}).find("bytes, ratio, mode"), std::string::npos);
  EXPECT_NE(problem("get", {{"bytes", int64_t{0}}}).find("at least 1"), std::string::npos);
  EXPECT_NE(problem("get", {{"bytes", int64_t{2} << 20}}).find("out of range"), std::string::npos);
  EXPECT_NE(problem("get", {{"bytes", 1.5}}).find("not an integer"), std::string::npos);
  EXPECT_NE(problem("get", {{"bytes", std::string("many")}}).find("not a number"),
            std::string::npos);
  EXPECT_NE(problem("get", {{"mode", std::string("hot")}}).find("\"cold\", \"warm\""),
            std::string::npos);
  EXPECT_NE(problem("get", {{"ratio", std::numeric_limits<double>::infinity()}}).find("finite"),
            std::string::npos);
  Point foreign{"micro.other", "get", {}};
  EXPECT_NE(complete_point(declaration(), foreign), std::nullopt);
}

TEST(AppendPoints, CombinesVariantsAndValuesInOrder) {
  Experiment two = declaration();
  two.factors.resize(2);
  two.factors[0].values = {int64_t{1}, int64_t{2}};
  two.factors[1].values = {0.5, 1.0, 2.0};
  std::vector<Point> points = {{"another", "x", {}}};
  append_points(two, points);
  ASSERT_EQ(points.size(), 1U + 2 * 2 * 3);
  EXPECT_EQ(points[0].experiment, "another");
  EXPECT_EQ(points[1], (Point{two.name, "get", {{"bytes", int64_t{1}}, {"ratio", 0.5}}}));
  EXPECT_EQ(points[2], (Point{two.name, "get", {{"bytes", int64_t{1}}, {"ratio", 1.0}}}));
  EXPECT_EQ(points[4], (Point{two.name, "get", {{"bytes", int64_t{2}}, {"ratio", 0.5}}}));
  EXPECT_EQ(points[7], (Point{two.name, "put", {{"bytes", int64_t{1}}, {"ratio", 0.5}}}));
  two.factors[0].values.clear();
  std::vector<Point> none;
  append_points(two, none);
  EXPECT_TRUE(none.empty());
}

TEST(StopReasons, RoundTripThroughTheirNames) {
  for (const auto reason : {StopReason::converged, StopReason::max_reps, StopReason::time_budget,
                            StopReason::cancelled}) {
    EXPECT_EQ(stop_reason_from_string(to_string(reason)), reason);
  }
  EXPECT_EQ(stop_reason_from_string("tired"), std::nullopt);
}

}  // namespace
}  // namespace stripline::experiment
