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
  for (const char* bad : {"", "-1s", "5 min", "inf"}) EXPECT_FALSE(parse_seconds(bad).ok()) << bad;
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
  EXPECT_EQ(exact_bytes_text(0), "0 B");
  EXPECT_EQ(exact_bytes_text(1536), "1536 B");
  EXPECT_EQ(exact_bytes_text(27648), "27 KiB");
  EXPECT_EQ(exact_bytes_text(uint64_t{1} << 30), "1 GiB");
}

}  // namespace
}  // namespace stripline
