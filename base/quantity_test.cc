#include "base/quantity.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(Quantity, BytesTakeBinaryAndDecimalUnits) {
  EXPECT_EQ(*parse_bytes("4096", "size"), 4096U);
  EXPECT_EQ(*parse_bytes("64k", "size"), 65536U);
  EXPECT_EQ(*parse_bytes("1.5 MiB", "size"), 1572864U);
  EXPECT_EQ(*parse_bytes("1MB", "size"), 1000000U);
  EXPECT_EQ(*parse_bytes("256m", "size"), uint64_t{256} << 20);
  EXPECT_EQ(*parse_bytes("2GiB", "size"), uint64_t{2} << 30);
  EXPECT_EQ(*parse_bytes("1T", "size"), uint64_t{1} << 40);
  EXPECT_EQ(*parse_bytes("0", "size"), 0U);
  for (const char* bad : {"", "-1", "12z", "1.5", "KiB", "nan", "1e300", "10KX", "99999999999T",
                          "18446744073709551616"}) {
    const auto size = parse_bytes(bad, "--segment");
    ASSERT_FALSE(size.ok()) << bad;
    EXPECT_EQ(size.error().code(), ErrorCode::invalid_argument);
    EXPECT_NE(size.error().message().find("--segment '" + std::string(bad) + "'"),
              std::string::npos)
        << size.error().message();
  }
}

TEST(Quantity, Seconds) {
  EXPECT_DOUBLE_EQ(*parse_seconds("0.5"), 0.5);
  EXPECT_DOUBLE_EQ(*parse_seconds("120 ms"), 0.12);
  EXPECT_DOUBLE_EQ(*parse_seconds("350us"), 350e-6);
  EXPECT_DOUBLE_EQ(*parse_seconds("80ns"), 80e-9);
  EXPECT_DOUBLE_EQ(*parse_seconds("2min"), 120);
  EXPECT_DOUBLE_EQ(*parse_seconds("3m"), 180);
  EXPECT_DOUBLE_EQ(*parse_seconds("1.5 h"), 5400);
  EXPECT_DOUBLE_EQ(*parse_seconds("2d"), 172800);
  EXPECT_DOUBLE_EQ(*parse_seconds("1:30"), 90);
  EXPECT_DOUBLE_EQ(*parse_seconds("90:00"), 5400);
  EXPECT_DOUBLE_EQ(*parse_seconds("1:02:03"), 3723);
  for (const char* bad : {"", "-1s", "5 M", "inf", "nan", "1e10", "1:", ":30", "1:3", "1:60",
                          "1:-1", "1:60:00", "1:00:00:00", "1.5:00", "1:30s", "99999999999:00"}) {
    const auto seconds = parse_seconds(bad);
    ASSERT_FALSE(seconds.ok()) << bad;
    EXPECT_EQ(seconds.error().code(), ErrorCode::invalid_argument);
    EXPECT_LT(seconds.error().message().size(), 100U) << seconds.error().message();
  }
}

TEST(Quantity, TimesOutOfRangeAreToldTheRange) {
  EXPECT_DOUBLE_EQ(*parse_seconds("1ms", kTimeLimits), 1e-3);
  const auto message = [](const char* text, const TimeRange& range) {
    const auto seconds = parse_seconds(text, range);
    return seconds.ok() ? std::string("accepted") : seconds.error().message();
  };
  EXPECT_EQ(message("0", kTimeLimits), "'0' is out of range; write a time from 1 ms on");
  EXPECT_EQ(message("2h", {.least_s = 0.05, .most_s = 3600}),
            "'2h' is out of range; write a time from 50 ms to 3600 s");
  EXPECT_EQ(message("1e12", {}), "'1e12' is out of range; write a time of at most 1000000000 s");
}

// One spelling in and out.
TEST(Quantity, TimesThatAreWrittenAreRead) {
  for (const double seconds : {0.0, 80e-9, 350e-6, 0.25, 2.5, 59.0, 90.0, 3723.0, 86400.0}) {
    EXPECT_DOUBLE_EQ(*parse_seconds(exact_seconds_text(seconds)), seconds);
    EXPECT_NEAR(*parse_seconds(seconds_text(seconds)), seconds, seconds * 1e-2);
    EXPECT_NEAR(*parse_seconds(duration_text(seconds)), seconds, 0.5);
  }
}

TEST(Quantity, Texts) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(65536), "64 KiB");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(seconds_text(1.234e-6), "1.23 us");
  EXPECT_EQ(seconds_text(45.6e-9), "45.6 ns");
  EXPECT_EQ(seconds_text(3.4e-3), "3.40 ms");
  EXPECT_EQ(seconds_text(0.9999996e-3), "1.00 ms");
  EXPECT_EQ(seconds_text(-2e-6), "-2.00 us");
  EXPECT_EQ(seconds_text(9.996e-6), "10.0 us");
  EXPECT_EQ(seconds_text(99.96e-6), "100 us");
  EXPECT_EQ(seconds_text(1.23456e-3, 4), "1.235 ms");
  EXPECT_EQ(seconds_text(0.99996, 4), "1.000 s");
  EXPECT_EQ(seconds_text(12345), "12345 s");
  EXPECT_EQ(seconds_per_byte_text(0.28e-9), "0.28 ns/B");
  EXPECT_EQ(exact_seconds_text(0), "0 s");
  EXPECT_EQ(exact_seconds_text(15), "15 s");
  EXPECT_EQ(exact_seconds_text(2.5), "2.5 s");
  EXPECT_EQ(exact_seconds_text(350e-6), "350 us");
  EXPECT_EQ(exact_seconds_text(1.7976931348623157e308), "1.797693135e+308 s");
  EXPECT_EQ(duration_text(58.4), "58 s");
  EXPECT_EQ(duration_text(185), "3:05");
  EXPECT_EQ(duration_text(3723), "1:02:03");
  EXPECT_EQ(count_text(0, "rank"), "0 ranks");
  EXPECT_EQ(count_text(1, "rank"), "1 rank");
  EXPECT_EQ(count_text(2, "rank"), "2 ranks");
  EXPECT_EQ(count_text(1, "point with its run", "points with their runs"), "1 point with its run");
  EXPECT_EQ(count_text(3, "is", "are"), "3 are");
  EXPECT_EQ(exact_bytes_text(0), "0 B");
  EXPECT_EQ(exact_bytes_text(1536), "1536 B");
  EXPECT_EQ(exact_bytes_text(27648), "27 KiB");
  EXPECT_EQ(exact_bytes_text(uint64_t{1} << 30), "1 GiB");
}

}  // namespace
}  // namespace stripline
