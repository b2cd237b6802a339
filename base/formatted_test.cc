#include "base/formatted.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(Formatted, WritesWhatPrintfWrites) {
  EXPECT_EQ(formatted("%.2f of %s", 1.005, "all"), "1.00 of all");
  EXPECT_EQ(formatted("%d %%", 7), "7 %");
  EXPECT_EQ(formatted("%s", ""), "");
}

TEST(Formatted, TextOfAnyLengthIsWhole) {
  for (const size_t length : {63U, 64U, 65U, 1000U}) {
    const std::string text(length, 'x');
    EXPECT_EQ(formatted("%s", text.c_str()), text);
  }
}

}  // namespace
}  // namespace stripline
