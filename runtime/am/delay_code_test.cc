#include "runtime/am/delay_code.h"

#include <gtest/gtest.h>

namespace stripline::am {
namespace {

TEST(DelayCode, SaysNothingOrPromptOrADelay) {
  EXPECT_EQ(decode_delay(kNoDelayCode), 0.0);
  EXPECT_EQ(encode_delay(0), kPromptCode);
  EXPECT_EQ(encode_delay(kPromptSeconds), kPromptCode);
  EXPECT_EQ(decode_delay(kPromptCode), 0.0);
  EXPECT_GT(encode_delay(kPromptSeconds * 1.01), kPromptCode);
}

TEST(DelayCode, IsNeverBelowTheDelayAndAtMostAStepAbove) {
  for (double delay_s = 0.3e-6; delay_s < 500; delay_s *= 1.07) {
    const double said_s = decode_delay(encode_delay(delay_s));
    EXPECT_GE(said_s, delay_s * (1 - 1e-12));
    EXPECT_LE(said_s, delay_s * 1.0906);  // 2^(1/8)
  }
}

TEST(DelayCode, WhatIsLongerThanItCanSayIsTheLongest) {
  EXPECT_EQ(encode_delay(1e9), 255);
  EXPECT_GT(decode_delay(255), 800);
}

}  // namespace
}  // namespace stripline::am
