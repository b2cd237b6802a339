#include "cli/progress.h"

#include <gtest/gtest.h>

namespace stripline::cli {
namespace {

Progress measuring() {
  Progress progress;
  progress.stage = Progress::Stage::measuring;
  progress.points_done = 45;
  progress.points_total = 100;
  progress.runs_done = 5;
  progress.runs_total = 12;
  progress.left_s = 65;
  progress.elapsed_s = 40;
  return progress;
}

TEST(Progress, BarShowsShareRunAndTimeLeft) {
  EXPECT_EQ(progress_line(measuring(), 80),
            "measuring [##################----------------------]  45 %  run 6/12  1:05 left");
}

TEST(Progress, EveryWidthIsRespected) {
  for (const Progress::Stage stage :
       {Progress::Stage::queued, Progress::Stage::measuring, Progress::Stage::fitting,
        Progress::Stage::succeeded, Progress::Stage::failed, Progress::Stage::cancelled}) {
    Progress progress = measuring();
    progress.stage = stage;
    progress.message = "waits for 2 nodes that offer the fabric tcp; 1 is connected";
    for (size_t width = 1; width < 200; ++width) {
      EXPECT_LE(progress_line(progress, width).size(), width);
    }
  }
}

TEST(Progress, NarrowTerminalsLoseTheBarFirst) {
  const std::string line = progress_line(measuring(), 45);
  EXPECT_EQ(line.find('['), std::string::npos);
  EXPECT_NE(line.find("1:05 left"), std::string::npos);
}

TEST(Progress, AHundredPercentIsSaidOnlyWhenItIsSo) {
  Progress progress = measuring();
  progress.points_done = 999;
  progress.points_total = 1000;
  EXPECT_NE(progress_line(progress, 80).find(" 99 %"), std::string::npos);
  progress.stage = Progress::Stage::fitting;
  EXPECT_NE(progress_line(progress, 80).find("100 %"), std::string::npos);
  EXPECT_EQ(fraction_done(Progress{}), 0);
}

TEST(Progress, UnknownTimeShowsWhatHasPassed) {
  Progress progress = measuring();
  progress.left_s = -1;
  const std::string line = progress_line(progress, 80);
  EXPECT_NE(line.find("40 s"), std::string::npos);
  EXPECT_EQ(line.find("left"), std::string::npos);
}

TEST(Progress, ALostServerIsSaid) {
  Progress progress = measuring();
  progress.connected = false;
  EXPECT_NE(progress_line(progress, 100).find("waiting for the server"), std::string::npos);
}

TEST(Progress, QueuedSaysWhy) {
  Progress progress;
  progress.message = "waits for 2 nodes";
  progress.elapsed_s = 3;
  EXPECT_EQ(progress_line(progress, 80), "queued    3 s  waits for 2 nodes");
  EXPECT_EQ(progress_summary(progress), "queued: waits for 2 nodes");
}

TEST(Progress, Summary) {
  EXPECT_EQ(progress_summary(measuring()), "measuring: 45 %, run 6/12, 1:05 left");
}

TEST(Progress, WithoutARunInProgressThoseThatAreDoneAreCounted) {
  Progress progress = measuring();
  progress.stage = Progress::Stage::paused;
  progress.elapsed_s = -1;
  EXPECT_EQ(progress_summary(progress), "paused: 45 %, 5 of 12 runs");
  progress.stage = Progress::Stage::failed;
  EXPECT_EQ(progress_summary(progress), "failed: 45 %, 5 of 12 runs");
  progress.stage = Progress::Stage::draining;
  EXPECT_EQ(progress_summary(progress), "draining: 45 %, run 6/12");
  progress.stage = Progress::Stage::queued;
  progress.message = "waits for 2 nodes";
  EXPECT_EQ(progress_line(progress, 80), "queued    waits for 2 nodes");
}

// Four of eight runs measured 64 points or so; the others could measure 1577.
TEST(Progress, RunsOfFewPointsCountAsMuchAsOthers) {
  Progress progress = measuring();
  progress.points_done = 262;
  progress.points_total = 5051;
  progress.runs_done = 4;
  progress.runs_total = 8;
  EXPECT_EQ(fraction_done(progress), 0.5);
  progress.runs_total = 0;
  EXPECT_NEAR(fraction_done(progress), 0.052, 0.001);
}

}  // namespace
}  // namespace stripline::cli
