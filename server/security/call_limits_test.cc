#include "server/security/call_limits.h"

#include <ctime>

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

class CallLimitsTest : public testing::Test {
 protected:
  double now_s_ = 100;
  CallLimits limits_{[this] { return now_s_; }};
};

TEST_F(CallLimitsTest, WorkIsPaidByWhoCausedIt) {
  EXPECT_FALSE(limits_.refusal("users/eve"));
  limits_.charge("users/eve", 30);  // once it has begun, it may take what it takes
  const auto refused = limits_.refusal("users/eve");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reason, "TOO_MANY_CALLS");
  EXPECT_EQ(refused->metadata.at("retry_after_s"), "40") << "20 s of debt, half a second a second";
  EXPECT_FALSE(limits_.refusal("users/adam"));
  now_s_ += 39;
  EXPECT_TRUE(limits_.refusal("users/eve"));
  now_s_ += 2;
  EXPECT_FALSE(limits_.refusal("users/eve"));
}

TEST_F(CallLimitsTest, ManyCheapCallsAreNotFree) {
  int calls = 0;
  while (!limits_.refusal("users/eve") && calls < 100'000) {
    const MeteredCall call(limits_, "users/eve");
    ++calls;
  }
  EXPECT_GT(calls, 100);
  EXPECT_LE(calls, 5000) << "ten seconds of calls of two milliseconds";
}

TEST_F(CallLimitsTest, WhatTheProcessorDoesIsCharged) {
  {
    const MeteredCall call(limits_, "users/eve");
    const std::clock_t begin = std::clock();
    // The time of this process alone, however busy the host is.
    while (std::clock() - begin < CLOCKS_PER_SEC / 20) {
    }
  }
  limits_.charge("users/eve", 10 - 0.04);
  EXPECT_TRUE(limits_.refusal("users/eve"));
}

TEST(PayerOf, PeopleAndNodesHaveNames) {
  Caller alice;
  alice.name = "users/alice";
  alice.token_sha256 = "x";
  EXPECT_EQ(payer_of(alice, "192.0.2.1"), "users/alice");
  Caller node;
  node.name = "nodes/a";
  node.is_agent = true;
  EXPECT_EQ(payer_of(node, "192.0.2.1"), "nodes/a");
  Caller open;
  open.name = "users/anonymous";
  EXPECT_EQ(payer_of(open, "192.0.2.1"), "users/anonymous at 192.0.2.1");
}

// A stranger may have all addresses of his network, and one allowance.
TEST(PayerOf, StrangersAreKnownByTheirNetwork) {
  EXPECT_EQ(payer_of({}, "2001:db8:1:2:3:4:5:6"), payer_of({}, "2001:db8:1:2::1"));
  EXPECT_NE(payer_of({}, "2001:db8:1:3::1"), payer_of({}, "2001:db8:1:2::1"));
}

}  // namespace
}  // namespace stripline::server
