#include "base/number_text.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(NumberText, IsReadFromTheFirstCharacterToTheLast) {
  EXPECT_EQ(number_from_text<uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(number_from_text<int32_t>("-7"), -7);
  EXPECT_EQ(number_from_text<double>("2.5e-3"), 2.5e-3);
  for (const char* other : {"", " 7", "7 ", "+7", "7a", "x"}) {
    EXPECT_EQ(number_from_text<int64_t>(other), std::nullopt) << other;
    EXPECT_EQ(number_from_text<double>(other), std::nullopt) << other;
  }
}

TEST(NumberText, WhatTheTypeCannotHoldIsNotRead) {
  EXPECT_EQ(number_from_text<uint16_t>("65536"), std::nullopt);
  EXPECT_EQ(number_from_text<uint32_t>("-1"), std::nullopt);
  EXPECT_EQ(number_from_text<double>("1e999"), std::nullopt);
}

}  // namespace
}  // namespace stripline
