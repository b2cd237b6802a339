// What streams between many nodes find out about a network whose links they share.
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "suites/registry.h"
#include "suites/testing/ranks.h"

namespace stripline::suites {
namespace {

using experiment::Point;

Point point_of(const char* variant, int64_t nodes, int64_t distance, const char* served = "worst",
               const char* scale = "switches") {
  return {"micro.load",
          variant,
          {{"nodes", nodes},
           {"distance", distance},
           {"bytes", int64_t{262144}},
           {"served", std::string(served)},
           {"scale", std::string(scale)}}};
}

TEST(LoadBenchmark, FindsTheLinksThatAreShared) {
  // Four nodes below each switch, two links above it.
  std::map<std::string, double> time;
  on_ranks(8, "emulated:congested-tree,compute=none,jitter=off", "virtual", [&](Session& session) {
    for (const Point& point :
         {point_of("get", 2, 0), point_of("get", 8, 0), point_of("get", 8, 1),
          point_of("get", 8, 1, "best"), point_of("get", 8, 2, "worst", "numbers"),
          point_of("put", 2, 0), point_of("put", 8, 1)}) {
      const auto series = run_point(session, point, {.min_reps = 1, .max_reps = 2});
      if (session.context().rank_me() != 0) continue;
      ASSERT_TRUE(series.ok()) << series.error().message();
      EXPECT_TRUE(series->verified);
      ASSERT_FALSE(series->values.empty());
      time[experiment::point_key(point)] = series->values.front();
    }
  });
  const auto ratio = [&](const Point& of, const Point& base) {
    return time.at(experiment::point_key(of)) / time.at(experiment::point_key(base));
  };
  const Point alone = point_of("get", 2, 0);
  EXPECT_NEAR(ratio(point_of("get", 8, 0), alone), 1, 0.02);
  EXPECT_NEAR(ratio(point_of("get", 8, 1), alone), 2, 0.1);
  EXPECT_LE(ratio(point_of("get", 8, 1, "best"), alone), 2);
  EXPECT_GT(ratio(point_of("get", 8, 1, "best"), alone), 1);
  EXPECT_NEAR(ratio(point_of("get", 8, 2, "worst", "numbers"), alone), 2, 0.1);
  EXPECT_NEAR(ratio(point_of("put", 8, 1), point_of("put", 2, 0)), 2, 0.1);
}

TEST(LoadBenchmark, SaysWhatCannotBeMeasured) {
  std::map<std::string, std::string> said;
  on_ranks(4, "emulated:congested-tree,compute=none", "virtual", [&](Session& session) {
    for (const Point& point : {point_of("get", 8, 0), point_of("get", 4, 1)}) {
      const auto series = run_point(session, point, {});
      if (session.context().rank_me() != 0) continue;
      said[experiment::point_key(point)] = series.ok() ? "measured" : series.error().message();
    }
  });
  EXPECT_NE(said[experiment::point_key(point_of("get", 8, 0))].find("on 4 nodes, not 8"),
            std::string::npos);
  EXPECT_NE(said[experiment::point_key(point_of("get", 4, 1))].find("at distance 1"),
            std::string::npos);
}

}  // namespace
}  // namespace stripline::suites
