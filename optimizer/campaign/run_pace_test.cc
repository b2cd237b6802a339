#include "optimizer/campaign/run_pace.h"

#include <gtest/gtest.h>

namespace stripline::campaign {
namespace {

TEST(RunPace, CountsTheStartOnce) {
  RunPace run(100);
  EXPECT_EQ(run.pace(), std::nullopt);
  run.joined(106);
  EXPECT_EQ(run.start_s(), 6);
  run.report(109, 4);  // two seconds of connecting, then a quarter of a second each
  run.report(110, 8);
  ASSERT_TRUE(run.pace());
  EXPECT_DOUBLE_EQ(run.pace()->point_s, 0.25);
  EXPECT_DOUBLE_EQ(run.pace()->start_s, 8);
  EXPECT_DOUBLE_EQ(run.start_s(), 8);
}

TEST(RunPace, FewPointsAreEnoughWhenTheyAreSlow) {
  RunPace run(100);
  run.joined(101);
  run.report(101.5, 2);
  EXPECT_EQ(run.pace(), std::nullopt);
  RunPace slow(100);
  slow.joined(101);
  slow.report(105, 2);
  EXPECT_EQ(slow.pace(), std::nullopt);
  slow = RunPace(100);
  slow.joined(101);
  slow.report(107, 3);
  ASSERT_TRUE(slow.pace());
  EXPECT_DOUBLE_EQ(slow.pace()->start_s, 1);
  EXPECT_DOUBLE_EQ(slow.pace()->point_s, 2);
}

// Points come in batches: the time since the last one is not theirs.
TEST(RunPace, OnlyReportsCount) {
  RunPace run(0);
  run.joined(1);
  run.report(2, 10);
  run.report(4, 30);
  run.report(60, 30);
  run.joined(70);
  EXPECT_DOUBLE_EQ(run.pace()->point_s, 0.1);
  EXPECT_DOUBLE_EQ(run.pace()->start_s, 1);
}

// A first report that took longer than those after it must not give a start before the ranks met.
TEST(RunPace, AStartEndsWithTheJoinAtLeast) {
  RunPace run(0);
  run.joined(5);
  run.report(6, 100);
  run.report(8, 110);
  EXPECT_DOUBLE_EQ(run.pace()->start_s, 5);
}

}  // namespace
}  // namespace stripline::campaign
