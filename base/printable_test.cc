#include "base/printable.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  const std::string text = "n\u00e4chster Lauf: 3 \u00b5s \u2013 \u65e5\u672c \U0001f600\n\tend";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, ShowsWhatATerminalObeys) {
  EXPECT_EQ(printable("a\x1b[31mred\x07"), "a\\u001b[31mred\\u0007");
  EXPECT_EQ(printable("over\rwritten\b"), "over\\u000dwritten\\u0008");
  EXPECT_EQ(printable("one byte: \x9b"
                      "2J, two: \u009b2J"),
            "one byte: \\x9b2J, two: \\u009b2J");
  EXPECT_EQ(printable("\x7f" + std::string(1, '\0')), "\\u007f\\u0000");
  EXPECT_EQ(printable("\u202egnp.exe"), "\\u202egnp.exe");
}

TEST(Printable, ShowsWhatIsNoUtf8) {
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("cut \xe2\x82"), "cut \\xe2\\x82");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b") << "an overlong form of a control character";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair of surrogates";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Printable, KeepsALineOne) {
  EXPECT_EQ(printable_line("fine\nstripline: error: forged\tcell"),
            "fine\\u000astripline: error: forged\\u0009cell");
}

}  // namespace
}  // namespace stripline
