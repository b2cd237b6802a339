#include "server/store/point_filter.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

bool matches(const std::map<std::string, std::string>& params, std::string_view text) {
  return PointMatcher(PointFilter{"", "", params}).matches(text);
}

TEST(PointFilter, TellsParametersAndTheirValues) {
  constexpr std::string_view kParams = R"({"bytes":4096,"fraction":0.5,"way":"cma"})";
  EXPECT_TRUE(matches({}, kParams));
  EXPECT_TRUE(matches({{"bytes", "4096"}}, kParams));
  EXPECT_TRUE(matches({{"way", "cma"}}, kParams));
  EXPECT_TRUE(matches({{"fraction", "0.5"}, {"way", "cma"}, {"bytes", "4096"}}, kParams));
  EXPECT_FALSE(matches({{"bytes", "409"}}, kParams));
  EXPECT_FALSE(matches({{"bytes", "96"}}, kParams));
  EXPECT_FALSE(matches({{"ytes", "4096"}}, kParams));
  EXPECT_FALSE(matches({{"bytes", "4096"}, {"way", "mapped"}}, kParams));
  EXPECT_FALSE(matches({{"bytes", ""}}, kParams));
  EXPECT_FALSE(matches({{"bytes", "4096"}}, "{}"));
}

}  // namespace
}  // namespace stripline::server
