#include "runtime/bootstrap/job_watch.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/bootstrap/testing/scoped_environment.h"

namespace stripline::bootstrap {
namespace {

constexpr WatchSettings kSettings{.peer_timeout_s = 10, .stall_notice_s = 40};

RankSight joined(char state, uint64_t waits, const std::string& operation = "") {
  return {.stage = RankSight::Stage::joined,
          .state = state,
          .pid = 100 + static_cast<pid_t>(waits),
          .waits = waits,
          .operation = operation};
}

/// Looks every half second until something ends the job, from a time on; when that was.
double end_of(JobWatch& watch, const std::vector<RankSight>& ranks, double from_s, double until_s) {
  for (double now = from_s; now < until_s; now += 0.5) {
    if (watch.look(now, ranks)) return now;
  }
  return INFINITY;
}

TEST(JobWatch, AStoppedProcessEndsTheJobAfterThePeerTimeout) {
  JobWatch watch(4, 2, kSettings);
  EXPECT_EQ(watch.interval_s(), 0.5);
  const std::vector<RankSight> running = {joined('R', 2), joined('S', 5)};
  const std::vector<RankSight> stopped = {joined('R', 2), joined('T', 5)};
  EXPECT_EQ(end_of(watch, running, 0, 50), INFINITY) << "it may compute for long";
  EXPECT_EQ(end_of(watch, stopped, 50, 58), INFINITY);
  EXPECT_EQ(end_of(watch, running, 58, 59), INFINITY) << "it went on";
  EXPECT_EQ(end_of(watch, stopped, 59, 90), 68.5);
  EXPECT_EQ(watch.look(70, stopped),
            "rank 5 has been stopped for 11 s (state T, process 105) while others were not; 'kill "
            "-CONT 105' lets it go on, and a longer STRIPLINE_PEER_TIMEOUT waits for that");
}

TEST(JobWatch, AProcessOfAnotherHostIsNamedWithIt) {
  JobWatch watch(0, 2, kSettings);
  std::vector<RankSight> ranks = {joined('R', 2), joined('T', 5, "fence")};
  ranks[1].host = "node7";
  EXPECT_FALSE(watch.look(0, ranks));
  for (double now = 0.5; now < 10; now += 0.5) EXPECT_FALSE(watch.look(now, ranks));
  EXPECT_EQ(
      watch.look(10, ranks),
      "rank 1 has been stopped for 10 s (state T, process 105 on node7) while others were not; "
      "'kill -CONT 105' there lets it go on, and a longer STRIPLINE_PEER_TIMEOUT waits for "
      "that");
  EXPECT_NE(watch.where(ranks).find("rank 1: stopped (state T, process 105 on node7), waiting"),
            std::string::npos);
}

TEST(JobWatch, AStoppedProcessEndsTheJobAlsoWhenTheOthersHaveEnded) {
  JobWatch watch(0, 2, kSettings);
  EXPECT_EQ(end_of(watch, {RankSight{.stage = RankSight::Stage::ended}, joined('T', 5)}, 0, 50),
            10.0);
}

TEST(JobWatch, ASuspendedJobAndOneUnderADebuggerAreLeftAlone) {
  JobWatch watch(0, 2, kSettings);
  EXPECT_EQ(end_of(watch, {joined('T', 1), joined('T', 5)}, 0, 100), INFINITY);
  EXPECT_EQ(end_of(watch, {joined('R', 1), joined('t', 5)}, 100, 200), INFINITY);
  JobWatch alone(0, 1, kSettings);
  EXPECT_EQ(end_of(alone, {joined('T', 1)}, 0, 100), INFINITY);
}

TEST(JobWatch, TimeInWhichNobodyLookedDoesNotCount) {
  JobWatch watch(0, 2, kSettings);
  const std::vector<RankSight> stopped = {joined('R', 2), joined('T', 5)};
  EXPECT_FALSE(watch.look(0, stopped));
  EXPECT_FALSE(watch.look(1000, stopped)) << "the launcher was stopped, too";
  EXPECT_FALSE(watch.look(900, stopped));
}

TEST(JobWatch, AStallIsToldOnceWhenNoRankGetsOn) {
  const auto stalls = [](const std::vector<RankSight>& ranks) {
    JobWatch watch(0, static_cast<uint32_t>(ranks.size()), kSettings);
    int told = 0;
    for (double now = 0; now < 100; now += 0.5) {
      (void)watch.look(now, ranks);
      if (!watch.has_stalled()) continue;
      EXPECT_EQ(now, 40);
      ++told;
    }
    return told;
  };
  EXPECT_EQ(stalls({joined('R', 1), joined('S', 7)}), 1);
  EXPECT_EQ(stalls({joined('R', 1), joined('t', 6)}), 1);
  EXPECT_EQ(stalls({joined('R', 1), RankSight{.stage = RankSight::Stage::left}}), 1);
  EXPECT_EQ(stalls({joined('R', 1), joined('R', 6)}), 0) << "one computes";
  EXPECT_EQ(stalls({joined('R', 1), joined('S', 6)}), 1) << "one sleeps outside of calls";
  EXPECT_EQ(stalls({joined('t', 6), joined('t', 6)}), 0) << "no rank waits";
  EXPECT_EQ(stalls({joined('R', 1), RankSight{}}), 0) << "one has not joined";
}

TEST(JobWatch, AWaitThatEndsIsProgress) {
  JobWatch watch(0, 1, kSettings);
  for (double now = 0; now < 100; now += 0.5) {
    (void)watch.look(now, std::vector{joined('R', 1 + 2 * static_cast<uint64_t>(now / 30))});
    EXPECT_FALSE(watch.has_stalled());
  }
}

TEST(JobWatch, ProcessorTimeIsProgress) {
  JobWatch watch(0, 2, kSettings);
  std::vector<RankSight> ranks = {joined('R', 1), joined('S', 6, "barrier")};
  for (double now = 0; now < 100; now += 0.5) {
    ++ranks[1].cpu_ticks;
    (void)watch.look(now, ranks);
    EXPECT_FALSE(watch.has_stalled());
  }
  EXPECT_NE(watch.where(ranks).find("rank 1: computing for "), std::string::npos);
}

TEST(JobWatch, WhereTheRanksAre) {
  std::vector<RankSight> ranks(6, joined('R', 1, "barrier (solver.cc:40)"));
  ranks[1] = joined('S', 2, "rget of 8 bytes with rank 0");
  ranks[3] = joined('T', 3, "fence");
  ranks[4] = {};
  ranks.push_back(joined('Z', 1, "wait, after rget of 8 bytes with rank 0"));
  ranks[6].stage = RankSight::Stage::failed;
  JobWatch watch(0, 7, kSettings);
  for (double now = 0; now < 5; now += 0.5) EXPECT_FALSE(watch.look(now, ranks));
  ranks[2].waits += 2;
  EXPECT_FALSE(watch.look(5, ranks));
  EXPECT_EQ(watch.where(ranks),
            "  ranks 0, 2, 5: waiting for 0 s to 5 s in barrier (solver.cc:40)\n"
            "  rank 1: sleeping for 5 s, last call rget of 8 bytes with rank 0\n"
            "  rank 3: stopped (state T, process 103), waiting for 5 s in fence\n"
            "  rank 4: not joined yet\n"
            "  rank 6: gave up waiting for 5 s in wait, after rget of 8 bytes with rank 0");
}

TEST(JobWatch, ManyGroupsAreCutShort) {
  std::vector<RankSight> ranks;
  for (int i = 0; i < 100; ++i) ranks.push_back(joined('R', 1, "rput with " + std::to_string(i)));
  JobWatch watch(0, 100, kSettings);
  EXPECT_FALSE(watch.look(0, ranks));
  EXPECT_NE(watch.where(ranks).find("\n  and others at 60 more places"), std::string::npos);
}

TEST(JobWatch, RankListsAreShort) {
  EXPECT_EQ(rank_list(std::vector<uint32_t>{0, 1, 2, 3, 5}), "0-3, 5");
  EXPECT_EQ(rank_list(std::vector<uint32_t>{7}), "7");
  EXPECT_EQ(rank_list({}), "");
}

TEST(JobWatch, SettingsComeFromTheJobThenTheEnvironment) {
  const ScopedEnvironment environment(
      {{"STRIPLINE_PEER_TIMEOUT", "7.5"}, {"STRIPLINE_STALL_NOTICE", "3"}});
  const auto usual = watch_settings({});
  ASSERT_TRUE(usual.ok()) << usual.error().message();
  EXPECT_EQ(usual->peer_timeout_s, 7.5);
  EXPECT_EQ(usual->stall_notice_s, 3);
  const auto own = watch_settings({{"STRIPLINE_STALL_NOTICE", "0"}});
  ASSERT_TRUE(own.ok());
  EXPECT_TRUE(std::isinf(own->stall_notice_s));
  for (const char* text : {"abc", "-1", "nan", "inf"}) {
    const auto bad = watch_settings({{"STRIPLINE_STALL_NOTICE", text}});
    ASSERT_FALSE(bad.ok()) << text;
    EXPECT_NE(bad.error().message().find("STRIPLINE_STALL_NOTICE is '" + std::string(text) + "'"),
              std::string::npos);
  }
  EXPECT_FALSE(watch_settings({{"STRIPLINE_PEER_TIMEOUT", "0"}}).ok());
}

}  // namespace
}  // namespace stripline::bootstrap
