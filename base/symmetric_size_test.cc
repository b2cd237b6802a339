#include "base/symmetric_size.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

uint64_t size_of(std::string_view text) {
  const auto size = parse_symmetric_size(text, "SHMEM_SYMMETRIC_SIZE");
  EXPECT_TRUE(size.ok()) << text;
  return size.ok() ? *size : 0;
}

TEST(SymmetricSize, IsANumberWithOrWithoutASuffix) {
  EXPECT_EQ(size_of("0"), 0);
  EXPECT_EQ(size_of("1048576"), 1048576);
  EXPECT_EQ(size_of("20m"), 20971520);
  EXPECT_EQ(size_of("3.1M"), 3250586);  // the standard's example: rounded up
  EXPECT_EQ(size_of(".5m"), 524288);
  EXPECT_EQ(size_of("2G"), uint64_t{2} << 30);
  EXPECT_EQ(size_of("1t"), uint64_t{1} << 40);
  EXPECT_EQ(size_of("20kk"), 20480);
}

TEST(SymmetricSize, RefusesNonsenseByTheNameOfTheVariable) {
  for (const char* text : {"", "m", "-1", "-0", "nan", "inf", "12q", "1e300", " 5", "0x10q"}) {
    const auto size = parse_symmetric_size(text, "SMA_SYMMETRIC_SIZE");
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_NE(size.error().message().find("SMA_SYMMETRIC_SIZE='"), std::string::npos);
  }
}

}  // namespace
}  // namespace stripline
