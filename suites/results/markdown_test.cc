#include "suites/results/markdown.h"

#include <cmath>

#include <gtest/gtest.h>

namespace stripline::suites::results {
namespace {

TEST(Markdown, TablesAlignTheirNumbers) {
  MarkdownTable table({"name", ">value"});
  table.add({"a", "1.0"});
  EXPECT_EQ(table.text(), "| name | value |\n|---|---:|\n| a | 1.0 |\n");
}

TEST(Markdown, NumbersThatAreNoneAreADash) {
  EXPECT_EQ(number(1.23456), "1.235");
  EXPECT_EQ(number(1.23456, 1), "1.2");
  EXPECT_EQ(percent(0.123), "12.3 %");
  EXPECT_EQ(percent(-0.05, 0), "-5 %");
  EXPECT_EQ(number(std::nan("")), "–");
  EXPECT_EQ(percent(HUGE_VAL), "–");
}

}  // namespace
}  // namespace stripline::suites::results
