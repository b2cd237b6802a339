#include "suites/bench/text_table.h"

#include <gtest/gtest.h>

namespace stripline::suites::bench {
namespace {

TEST(TextTable, NumbersAreWrittenWithAFittingPrefix) {
  EXPECT_EQ(with_unit(1.23456e-5, "s"), "12.35 us");
  EXPECT_EQ(with_unit(2.5e-10, "s"), "0.250 ns");
  EXPECT_EQ(with_unit(0.0123, "s"), "12.30 ms");
  EXPECT_EQ(with_unit(12.3, "s"), "12.30 s");
  EXPECT_EQ(with_unit(0, "s"), "0.000 s");
  EXPECT_EQ(with_unit(5, "1"), "5.000 1");
  EXPECT_EQ(interval_text(9.9e-7, 1.05e-6, "s"), "[0.990, 1.050] us");
  EXPECT_EQ(interval_text(0.87, 0.91, ""), "[0.870, 0.910]");
  EXPECT_EQ(with_unit(9.99996e-6, "s"), "10.00 us") << "four digits, not five";
  EXPECT_EQ(with_unit(99.9996e-6, "s"), "100.0 us");
  EXPECT_EQ(with_unit(999.96e-6, "s"), "1000 us");
  EXPECT_EQ(ratio_text(0.5), "0.500");
  EXPECT_EQ(ratio_text(123.456), "123.5");
}

TEST(TextTable, ColumnsAreAligned) {
  TextTable table({"variant", ">time", "plan"});
  table.add({"a", "1.000 s", "short"});
  table.add({"blocking", "12.00 ms", ""});
  EXPECT_EQ(table.text(),
            "variant       time  plan\n"
            "a          1.000 s  short\n"
            "blocking  12.00 ms\n");
}

}  // namespace
}  // namespace stripline::suites::bench
