#include "server/doors/http/seats.h"

#include <gtest/gtest.h>

#include "base/address_key.h"

namespace stripline::server::http {
namespace {

TEST(Seats, TheLongestWaitingOfAnAddressMakesRoom) {
  Seats seats(10, 2);
  EXPECT_TRUE(seats.admit(1, "a").admitted);
  EXPECT_TRUE(seats.admit(2, "a").admitted);
  const auto third = seats.admit(3, "a");
  EXPECT_TRUE(third.admitted);
  EXPECT_EQ(third.closes, 1U);
  EXPECT_EQ(seats.taken_of("a"), 2U);
  seats.works(2);
  seats.waits(2);  // it has asked since
  EXPECT_EQ(seats.admit(4, "a").closes, 3U);
}

TEST(Seats, WhatIsAnsweredStays) {
  Seats seats(10, 2);
  seats.admit(1, "a");
  seats.admit(2, "a");
  seats.works(1);
  seats.works(2);
  const auto third = seats.admit(3, "a");
  EXPECT_FALSE(third.admitted);
  EXPECT_FALSE(third.closes);
  EXPECT_TRUE(seats.admit(4, "b").admitted) << "another address has its own";
  seats.leaves(1);
  EXPECT_TRUE(seats.admit(5, "a").admitted);
}

TEST(Seats, WhoHasManyMakesRoomForWhoHasFew) {
  Seats seats(4, 3);
  seats.admit(1, "b");
  for (Seats::Id id = 2; id <= 4; ++id) EXPECT_TRUE(seats.admit(id, "a").admitted);
  EXPECT_EQ(seats.taken(), 4U);
  EXPECT_EQ(seats.admit(5, "c").closes, 2U) << "though the one of b waits longer";
  for (Seats::Id id : {3, 4}) seats.works(id);
  EXPECT_EQ(seats.admit(6, "c").closes, 1U) << "those of a are answered";
}

TEST(Seats, AProxyHasAllThatAreLeft) {
  Seats seats(4, 1, {address_key("2001:db8::1")});
  const std::string proxy = address_key("2001:db8::2");  // of the same network
  for (Seats::Id id = 1; id <= 3; ++id) {
    EXPECT_TRUE(seats.admit(id, proxy).admitted);
    seats.works(id);
  }
  EXPECT_TRUE(seats.admit(4, "a").admitted);
  seats.works(4);
  EXPECT_FALSE(seats.admit(5, "a").admitted);
  EXPECT_TRUE(seats.is_proxy(proxy));
  EXPECT_FALSE(seats.is_proxy("a"));
}

TEST(Seats, SlowConnectionsKeepNoOneOut) {
  Seats seats(512, 64);
  // A thousand connections that never ask.
  for (Seats::Id id = 1; id <= 1000; ++id) EXPECT_TRUE(seats.admit(id, "a").admitted);
  EXPECT_EQ(seats.taken(), 64U);
  EXPECT_TRUE(seats.admit(2000, "a").admitted) << "an honest one of the same address";
  seats.works(2000);
  for (Seats::Id id = 3001; id <= 3100; ++id) EXPECT_NE(seats.admit(id, "a").closes, 2000U);
}

}  // namespace
}  // namespace stripline::server::http
