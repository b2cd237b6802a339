#include "suites/bench/points.h"

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "suites/registry.h"

namespace stripline::suites::bench {
namespace {

const experiment::Experiment& issue() { return find_benchmark("micro.issue")->declaration; }

TEST(Points, LeftOutFactorsTakeTheirFirstValue) {
  ASSERT_OK_AND_ASSIGN(const auto points, points_from(issue(), {"put"}, {}));
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(experiment::point_key(points.front()), "micro.issue/put?burst=1&bytes=8");
}

TEST(Points, ListsMultiplyAndVariantsAreNeighbours) {
  ASSERT_OK_AND_ASSIGN(const auto points, points_from(issue(), {}, {"bytes=8,64", "burst=1,2,4"}));
  ASSERT_EQ(points.size(), size_t{2} * 3 * issue().variants.size());
  EXPECT_EQ(points[0].variant, "get");
  EXPECT_EQ(points[1].variant, "put");
  EXPECT_EQ(points[0].params, points[1].params);
}

TEST(Points, AllTakesTheGrid) {
  ASSERT_OK_AND_ASSIGN(const auto points, points_from(issue(), {"get"}, {"burst=all"}));
  EXPECT_EQ(points.size(), issue().factors[1].values.size());
}

TEST(Points, EqualOnesAreMeasuredOnce) {
  ASSERT_OK_AND_ASSIGN(const auto points, points_from(issue(), {"get", "get"}, {"bytes=8,8"}));
  EXPECT_EQ(points.size(), 1u);
}

TEST(Points, MessagesSayWhatIsAccepted) {
  const auto message = [](const std::vector<std::string>& variants,
                          const std::vector<std::string>& params) {
    const auto points = points_from(issue(), variants, params);
    return points.ok() ? "accepted" : points.error().message();
  };
  EXPECT_NE(message({"gte"}, {}).find("get, put, am"), std::string::npos);
  EXPECT_NE(message({}, {"size=8"}).find("bytes, burst"), std::string::npos);
  EXPECT_NE(message({}, {"bytes"}).find("NAME=VALUE"), std::string::npos);
  EXPECT_NE(message({}, {"bytes=big"}).find("not a number"), std::string::npos);
  EXPECT_NE(message({}, {"bytes=0"}).find("out of range"), std::string::npos);
  EXPECT_NE(message({}, {"bytes=8", "bytes=9"}).find("given twice"), std::string::npos);
  EXPECT_NE(message({}, {"bytes="}).find("bytes"), std::string::npos);
  EXPECT_NE(message({}, {"bytes=8,"}).find("not a number"), std::string::npos);
}

TEST(Points, AnUnknownExperimentGetsTheNearestNames) {
  const auto found = find_experiment("micro.latncy");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code(), ErrorCode::not_found);
  EXPECT_NE(found.error().message().find("did you mean micro.latency"), std::string::npos);
  EXPECT_NE(find_experiment("matvec").error().message().find("did you mean kernel.matvec"),
            std::string::npos);
}

TEST(Points, ValuesAreWrittenForPeople) {
  const experiment::Factor bytes{.name = "bytes", .unit = "B"};
  const experiment::Factor count{.name = "count", .unit = "1"};
  EXPECT_EQ(value_text(bytes, int64_t{12}), "12 B");
  EXPECT_EQ(value_text(bytes, int64_t{3072}), "3 KiB");
  EXPECT_EQ(value_text(bytes, int64_t{1 << 20}), "1 MiB");
  EXPECT_EQ(value_text(count, int64_t{4096}), "4096");
  EXPECT_EQ(value_text(count, 0.25), "0.25");
}

}  // namespace
}  // namespace stripline::suites::bench
