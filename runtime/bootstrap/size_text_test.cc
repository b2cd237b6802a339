#include "runtime/bootstrap/size_text.h"

#include <string>

#include <gtest/gtest.h>

namespace stripline::bootstrap {
namespace {

TEST(ParseSize, NumbersAndSuffixes) {
  EXPECT_EQ(*parse_size("4096", "size"), 4096U);
  EXPECT_EQ(*parse_size("64K", "size"), 65536U);
  EXPECT_EQ(*parse_size("256m", "size"), uint64_t{256} << 20);
  EXPECT_EQ(*parse_size("2GiB", "size"), uint64_t{2} << 30);
  EXPECT_EQ(*parse_size("1TB", "size"), uint64_t{1} << 40);
  EXPECT_EQ(*parse_size("12B", "size"), 12U);
}

TEST(ParseSize, RefusesWhatIsNoSize) {
  for (const char* text : {"", "K", "-1", "1.5G", "10X", "10KX", "10 K", "0", "0M", "99999999999T",
                           "18446744073709551616"}) {
    const auto size = parse_size(text, "--segment");
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_EQ(size.error().code(), ErrorCode::invalid_argument);
    EXPECT_NE(size.error().message().find("--segment '" + std::string(text) + "'"),
              std::string::npos)
        << size.error().message();
  }
}

}  // namespace
}  // namespace stripline::bootstrap
