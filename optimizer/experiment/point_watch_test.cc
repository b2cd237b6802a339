#include "optimizer/experiment/point_watch.h"

#include <gtest/gtest.h>

namespace stripline::experiment {
namespace {

Assignment two_points() {
  Assignment assignment;
  for (const int64_t bytes : {8, 9}) {
    assignment.points.push_back({"micro.latency", "get", {{"bytes", bytes}}});
  }
  return assignment;
}

// Looks at rank 0 every two seconds until the run ends or the time has come; `begun` says which
// point it has begun at a time.
template <typename Begun>
PointNews look_until(PointWatch& watch, double& now_s, double to_s, Begun begun) {
  PointNews news;
  for (; now_s < to_s && !news.ends_run; now_s += 2) {
    news = watch.look(now_s, std::vector<Sight>{{0, begun(now_s)}});
  }
  return news;
}

constexpr auto kFirstPoint = [](double) { return uint64_t{1}; };

TEST(PointWatch, ThePointsBeforeSayHowLongAPointMayTake) {
  PointWatch watch(two_points(), " on nodes/a", 1);
  // The first takes 25 s: the second may take about 250.
  double now_s = 1;
  const PointNews news = look_until(
      watch, now_s, 900, [](double at_s) { return at_s < 26 ? uint64_t{1} : uint64_t{2}; });
  EXPECT_TRUE(news.ends_run);
  EXPECT_EQ(news.experiment, "micro.latency");
  EXPECT_GT(now_s, 250);
  EXPECT_LT(now_s, 300);
}

TEST(PointWatch, AProcessThatIsStoppedForAMomentIsNotGivenUp) {
  PointWatch watch(two_points(), "", 1);
  const auto ends_run = [&](double now_s, bool stopped) {
    return watch.look(now_s, std::vector<Sight>{{0, 1, stopped}}).ends_run;
  };
  EXPECT_FALSE(ends_run(15, true));
  EXPECT_FALSE(ends_run(20, false));
  EXPECT_FALSE(ends_run(26, true));
  EXPECT_TRUE(ends_run(36, true));
}

TEST(PointWatch, TheRankThatIsFurthestBehindCountsAndTimeInWhichNobodyLookedDoesNot) {
  PointWatch watch(two_points(), "", 0);
  double now_s = 0;
  EXPECT_EQ(look_until(watch, now_s, 14, kFirstPoint).message, "");
  // All of them were stopped for an hour, the one who looks as well.
  now_s = 3600;
  const PointNews news = watch.look(now_s, std::vector<Sight>{{0, 2}, {1, 1}});
  EXPECT_FALSE(news.ends_run);
  EXPECT_EQ(news.message,
            point_key(*watch.point_at(1)) + " has taken 22 s; it is given up after 30 s");
  EXPECT_TRUE(look_until(watch, now_s, 3620, kFirstPoint).ends_run);
  EXPECT_GT(now_s, 3606);
  EXPECT_LT(now_s, 3615);
  EXPECT_NE(watch.advice(now_s, 60).find("micro.latency/get?bytes="), std::string::npos);
  EXPECT_EQ(watch.advice(now_s, 3600), "measure fewer points or give it more time");
}

TEST(PointWatch, AHostThatIsSuspendedTwiceDoesNotEndTheRun) {
  PointWatch watch(two_points(), "", 0);
  const auto ends_run = [&](double now_s, uint64_t begun) {
    return watch.look(now_s, std::vector<Sight>{{0, begun}}).ends_run;
  };
  EXPECT_FALSE(ends_run(5, 1));
  EXPECT_FALSE(ends_run(3605, 1));
  EXPECT_FALSE(ends_run(7205, 1));
  EXPECT_FALSE(ends_run(7210, 2));
}

TEST(PointWatch, AProcessCountsAsStoppedOnlyWhileSomebodyLooks) {
  PointWatch watch(two_points(), "", 0);
  const auto ends_run = [&](double now_s) {
    return watch.look(now_s, std::vector<Sight>{{0, 1, true}}).ends_run;
  };
  EXPECT_FALSE(ends_run(5));
  EXPECT_FALSE(ends_run(3600));  // it may have gone on meanwhile, and been stopped again
  EXPECT_FALSE(ends_run(3605));
  EXPECT_TRUE(ends_run(3610));
}

}  // namespace
}  // namespace stripline::experiment
