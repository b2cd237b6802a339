#include "suites/harness/alternate.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace stripline::suites::harness {
namespace {

TEST(Alternate, EachIsFirstAsOftenAsAnyOther) {
  for (size_t count = 1; count <= 6; ++count) {
    std::vector<size_t> first(count);
    for (size_t round = 0; round < 2 * count; ++round) {
      std::set<size_t> all;
      for (size_t turn = 0; turn < count; ++turn) all.insert(alternative_of(turn, round, count));
      EXPECT_EQ(all.size(), count) << round;
      ++first[alternative_of(0, round, count)];
    }
    for (const size_t times : first) EXPECT_EQ(times, 2U) << count;
  }
}

TEST(Alternate, NoneAlwaysFollowsTheSameOther) {
  std::string order;
  for (size_t round = 0; round < 4; ++round) {
    for (size_t turn = 0; turn < 2; ++turn) order += std::to_string(alternative_of(turn, round, 2));
  }
  EXPECT_EQ(order, "01101001");
}

TEST(Alternate, RoundsOfTheWarmUpCountForCorrectnessOnly) {
  const auto measured = alternate(2, 3, 4, [](size_t i, int round) {
    return std::pair(static_cast<double>(10 * round) + static_cast<double>(i),
                     i == 0 || round >= -2);
  });
  ASSERT_EQ(measured.size(), 2U);
  EXPECT_EQ(measured[0].seconds, (std::vector<double>{0, 10, 20, 30}));
  EXPECT_EQ(measured[1].seconds, (std::vector<double>{1, 11, 21, 31}));
  EXPECT_TRUE(measured[0].right);
  EXPECT_FALSE(measured[1].right) << "it was wrong in the first round";
}

}  // namespace
}  // namespace stripline::suites::harness
