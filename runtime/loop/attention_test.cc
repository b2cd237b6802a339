#include "runtime/loop/attention.h"

#include <gtest/gtest.h>

namespace stripline::detail {
namespace {

int looks_in(Attention attention, int steps) {
  int looks = 0;
  for (int i = 0; i < steps; ++i) looks += attention.due() ? 1 : 0;
  return looks;
}

TEST(Attention, LooksTakeASmallPartOfTheLoop) {
  const double look_s = 1e-7;
  fabric::Info info;
  info.goes_on_without_calls = true;
  for (const double step_s : {look_s / 10, look_s, 10 * look_s}) {
    const int steps = 100000;
    const int looks = looks_in(Attention(info, look_s, step_s), steps);
    EXPECT_GT(looks, 0);
    EXPECT_LE(looks * look_s, 0.0051 * steps * step_s);
    EXPECT_GE(looks * look_s, 0.004 * steps * step_s);
  }
  for (const double times : {101.0, 130.0, 199.0}) {  // two steps take a little more than enough
    const int looks = looks_in(Attention(info, look_s, times * look_s), 1000);
    EXPECT_EQ(looks, 500) << times;
  }
  EXPECT_EQ(looks_in(Attention(info, look_s, 1000 * look_s), 10), 10) << "long steps";
}

TEST(Attention, LooksAfterEveryStepWhereTransfersNeedCallsOrNothingIsKnown) {
  fabric::Info info;
  EXPECT_EQ(looks_in(Attention(info, 1e-7, 1e-9), 10), 10);
  info.goes_on_without_calls = true;
  EXPECT_EQ(looks_in(Attention(info, 0, 1e-9), 10), 10);
  EXPECT_EQ(looks_in(Attention(), 10), 10);
}

TEST(Attention, TimesAStepWhereNothingIsExpected) {
  fabric::Info info;
  info.goes_on_without_calls = true;
  Attention attention(info, 1e-7, 0);
  double now_s = 1;
  const auto looks_of = [&](int steps) {
    int looks = 0;
    for (int i = 0; i < steps; ++i) {
      now_s += 1e-6;
      if (!attention.due()) continue;
      ++looks;
      now_s += 1e-7;
      if (attention.times_steps()) attention.has_looked_at(now_s);
    }
    return looks;
  };
  EXPECT_EQ(looks_of(2), 2);
  EXPECT_NEAR(looks_of(20000), 1000, 60);  // 0.5 % of the time
  EXPECT_FALSE(attention.times_steps());

  // The time of a step that the rank has waited in is not that of others.
  attention = Attention(info, 1e-7, 0);
  EXPECT_EQ(looks_of(1), 1);
  now_s += 1;
  attention.has_looked();
  EXPECT_EQ(looks_of(2), 2);
  EXPECT_NEAR(looks_of(20000), 1000, 60);
}

TEST(LookTime, IsTheShortestOfTheFirst) {
  LookTime look;
  double longest_s = 9e-7;
  while (!look.known()) {
    EXPECT_EQ(look.seconds(), 0);
    look.note(longest_s);
    longest_s -= 1e-7;
  }
  EXPECT_NEAR(look.seconds(), longest_s + 1e-7, 1e-12);
}

TEST(Attention, WhoHasWaitedHasLooked) {
  fabric::Info info;
  info.goes_on_without_calls = true;
  Attention attention(info, 1e-7, 50 * 1e-7);
  EXPECT_FALSE(attention.due());
  EXPECT_FALSE(attention.due());
  attention.has_looked();
  EXPECT_FALSE(attention.due());
  EXPECT_FALSE(attention.due());
  EXPECT_FALSE(attention.due());
  EXPECT_TRUE(attention.due());
}

}  // namespace
}  // namespace stripline::detail
