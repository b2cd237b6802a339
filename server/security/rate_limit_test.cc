#include "server/security/rate_limit.h"

#include <string>

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

TEST(Allowance, RefillsUpToItsBurst) {
  Allowance allowance({.per_s = 8, .burst = 5});
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(allowance.try_take(1, 100)) << i;
  EXPECT_FALSE(allowance.try_take(1, 100));
  EXPECT_FALSE(allowance.has(1, 100));
  EXPECT_TRUE(allowance.has(1, 100.125));
  EXPECT_FALSE(allowance.full(100.125));
  EXPECT_TRUE(allowance.try_take(1, 100.125));
  EXPECT_FALSE(allowance.try_take(1, 100.125));
  EXPECT_TRUE(allowance.full(101));
  EXPECT_TRUE(allowance.try_take(5, 200));
  EXPECT_FALSE(allowance.try_take(1, 200));
}

TEST(Allowance, WhatIsTakenInAdvanceIsWaitedFor) {
  Allowance allowance({.per_s = 10, .burst = 5});
  EXPECT_EQ(allowance.take(5, 1), 0);
  EXPECT_DOUBLE_EQ(allowance.take(1, 1), 0.1);
  EXPECT_DOUBLE_EQ(allowance.take(2, 1), 0.3);
  EXPECT_EQ(allowance.take(1, 2), 0);
}

TEST(Allowance, SaysHowLongToWaitAfterAnAdvance) {
  Allowance allowance({.per_s = 0.5, .burst = 10});
  EXPECT_EQ(allowance.wait_s(1), 0);
  allowance.take(30, 1);
  EXPECT_DOUBLE_EQ(allowance.wait_s(1), 40);
  EXPECT_DOUBLE_EQ(allowance.wait_s(31), 10);
  EXPECT_EQ(allowance.wait_s(42), 0);
}

TEST(PeerAllowances, EachPeerHasItsOwn) {
  PeerAllowances allowances({.per_s = 1, .burst = 2});
  EXPECT_TRUE(allowances.try_take("a", 2, 1));
  EXPECT_FALSE(allowances.try_take("a", 1, 1));
  EXPECT_TRUE(allowances.try_take("b", 1, 1));
  EXPECT_EQ(allowances.size(), 2U);
  // Peers that have kept quiet are forgotten.
  EXPECT_TRUE(allowances.try_take("c", 1, 100));
  EXPECT_EQ(allowances.size(), 1U);
}

TEST(CappedAllowances, WhatIsNotAllowedTakesNothingAndIsForgotten) {
  CappedAllowances allowances({.per_s = 1, .burst = 1}, {.per_s = 1, .burst = 3});
  EXPECT_TRUE(allowances.try_take("a", 1));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(allowances.try_take("a", 1)) << i;
  EXPECT_TRUE(allowances.try_take("b", 1));
  EXPECT_TRUE(allowances.try_take("c", 1));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(allowances.try_take(std::to_string(i), 1)) << i;
  EXPECT_EQ(allowances.size(), 3U);
  EXPECT_TRUE(allowances.try_take("a", 2));
  EXPECT_FALSE(allowances.try_take("b", 2));
}

}  // namespace
}  // namespace stripline::server
