#include "base/cut_text.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(CutText, LeavesWhatIsShort) {
  EXPECT_EQ(cut_text("", 3), "");
  EXPECT_EQ(cut_text("abc", 3), "abc");
}

TEST(CutText, SaysHowLongItWas) { EXPECT_EQ(cut_text("abcdef", 3), "abc... (of 6 bytes)"); }

TEST(CutText, CutsNoCharacterInTwo) {
  EXPECT_EQ(cut_text("ab\u20acdef", 4), "ab... (of 8 bytes)");
  EXPECT_EQ(cut_text("ab\u20acdef", 5), "ab\u20ac... (of 8 bytes)");
}

TEST(CutText, EndsWhereNothingIsUtf8) {
  EXPECT_EQ(cut_text(std::string(9, '\x80'), 5), std::string(5, '\x80') + "... (of 9 bytes)");
}

TEST(CutText, QuotesAHugeNameShortly) {
  EXPECT_EQ(quoted_text("n1"), "'n1'");
  EXPECT_LT(quoted_text(std::string(7 << 20, 'a')).size(), kLongestQuoteBytes + 40);
}

}  // namespace
}  // namespace stripline
