#include "base/hex.h"

#include <string>

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(Hex, EveryByteSurvives) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  const std::string text = to_hex(bytes);
  EXPECT_EQ(text.size(), 512U);
  EXPECT_EQ(text.substr(0, 6), "000102");
  EXPECT_EQ(from_hex(text), bytes);
}

TEST(Hex, AcceptsUpperCaseAndNothing) {
  EXPECT_EQ(from_hex("4A4b"), "JK");
  EXPECT_EQ(from_hex(""), "");
}

TEST(Hex, RefusesOddLengthAndOtherCharacters) {
  EXPECT_EQ(from_hex("abc"), std::nullopt);
  EXPECT_EQ(from_hex("0g"), std::nullopt);
  EXPECT_EQ(from_hex(" 1"), std::nullopt);
}

}  // namespace
}  // namespace stripline
