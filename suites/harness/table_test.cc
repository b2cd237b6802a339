#include "suites/harness/table.h"

#include <cmath>

#include <gtest/gtest.h>

namespace stripline::suites {
namespace {

TEST(Table, AlignsNumbersInMarkdownAndInText) {
  Table table({"name", ">value"});
  table.add({"a", "1.0"});
  EXPECT_EQ(table.text(), "| name | value |\n|---|---:|\n| a | 1.0 |\n");
  table.add({"longer", ""});
  EXPECT_EQ(table.text(false), "name    value\na         1.0\nlonger\n");
}

TEST(Table, NumbersAreWrittenWithAFittingPrefix) {
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

TEST(Table, NumbersThatAreNotFiniteAreADash) {
  EXPECT_EQ(number(1.23456), "1.235");
  EXPECT_EQ(number(1.23456, 1), "1.2");
  EXPECT_EQ(percent(0.123), "12.3 %");
  EXPECT_EQ(percent(-0.05, 0), "-5 %");
  EXPECT_EQ(number(std::nan("")), "–");
  EXPECT_EQ(percent(HUGE_VAL), "–");
  EXPECT_EQ(bounded(1, 0.98765, 1.0126), "1.000 [0.988, 1.013]");
}

TEST(Table, BoundsAreShownWithTheirVerdict) {
  EXPECT_EQ(at_most(1.05, 1.0499), "at most 1.050: met");
  EXPECT_EQ(at_most(0.8, 0.81, 2), "at most 0.80: NOT MET");
  EXPECT_EQ(at_most(0, 2), "");
}

TEST(Table, TimesAreShownAsTheMetricOfTheirRow) {
  EXPECT_EQ(metric_text("latency", 1, 1.5e-6), "1.500 us");
  EXPECT_EQ(metric_text("rate", 1, 2.5e-7), "4.000 Mop/s");
  EXPECT_EQ(metric_text("bandwidth", 65536, 6.5536e-6), "10.00 GB/s");
  EXPECT_EQ(metric_value("bandwidth", 10, 2), 5);
}

TEST(Table, LinesOfJsonHoldMedianAndInterval) {
  const std::string line = json_line({.experiment = "compare.get",
                                      .variant = "stripline",
                                      .fabric = "tcp",
                                      .metric = "latency",
                                      .unit = "s",
                                      .verified = false},
                                     {3, 1, 2});
  const auto json = parse_json(line, "line");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ((*json)["experiment"], "compare.get");
  EXPECT_EQ((*json)["median"], 2);
  EXPECT_EQ((*json)["runs"], 3);
  EXPECT_TRUE((*json)["ci_low"].is_null()) << "three values are too few for an interval";
  EXPECT_EQ((*json)["verified"], false);
  EXPECT_TRUE((*json)["params"].is_object());
}

}  // namespace
}  // namespace stripline::suites
