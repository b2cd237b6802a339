#include "agent/stay.h"

#include <gtest/gtest.h>

namespace stripline::agent {
namespace {

using Wish = Stay::Wish;

TEST(Stay, AServiceStays) {
  Stay stay({}, 100);
  EXPECT_EQ(stay.wish(100, false), Wish::stay);
  EXPECT_EQ(stay.wish(1e9, false), Wish::stay);
  EXPECT_FALSE(stay.next_event_s());
  EXPECT_FALSE(stay.available_s(100));
}

TEST(Stay, AJobEndsWhenThereIsNoWork) {
  Stay stay({.idle_s = 60}, 100);
  EXPECT_EQ(stay.wish(150, false), Wish::stay);
  EXPECT_EQ(stay.next_event_s(), 160);
  EXPECT_EQ(stay.wish(155, true), Wish::stay);
  EXPECT_FALSE(stay.next_event_s());
  EXPECT_EQ(stay.wish(1000, true), Wish::stay);
  EXPECT_EQ(stay.wish(1010, false), Wish::stay) << "it has just ended";
  EXPECT_EQ(stay.wish(1069, false), Wish::stay);
  EXPECT_EQ(stay.wish(1070, false), Wish::stop);
  EXPECT_TRUE(stay.idle());
}

TEST(Stay, NothingIsTakenThatTheEndWouldCut) {
  Stay stay({.end_s = 1000, .leave_before_end_s = 60, .stop_before_end_s = 10}, 100);
  EXPECT_EQ(*stay.available_s(100), 840);
  EXPECT_EQ(stay.wish(939, true), Wish::stay);
  EXPECT_EQ(stay.next_event_s(), 940);
  EXPECT_EQ(stay.wish(940, true), Wish::leave);
  EXPECT_TRUE(stay.leaving());
  EXPECT_EQ(stay.next_event_s(), 990);
  EXPECT_EQ(stay.wish(990, true), Wish::stop);
  EXPECT_EQ(*stay.available_s(995), 0);
  Stay idle({.end_s = 1000}, 100);
  EXPECT_EQ(idle.wish(940, false), Wish::stop) << "nothing is in progress";
}

TEST(Stay, WhatIsMeasuredMayEndWithinALimit) {
  Stay stay({}, 100);
  stay.leave(200, 30);
  EXPECT_EQ(stay.wish(200, true), Wish::leave);
  EXPECT_EQ(stay.next_event_s(), 230);
  EXPECT_EQ(stay.wish(210, false), Wish::stop);
  Stay slow({}, 100);
  slow.leave(200, 30);
  slow.leave(205, 0);
  EXPECT_EQ(slow.wish(205, true), Wish::stop) << "the second word counts";
}

}  // namespace
}  // namespace stripline::agent
