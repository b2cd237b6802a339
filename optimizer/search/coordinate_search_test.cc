#include "optimizer/search/coordinate_search.h"

#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include <gtest/gtest.h>

namespace stripline::search {
namespace {

using Response = std::function<double(const Combination&)>;

// A search that knows the default and each value beside it.
CoordinateSearch begun(const std::vector<std::size_t>& values, const Response& response) {
  CoordinateSearch search(values);
  const Combination usual(values.size(), 0);
  search.add(usual, response(usual));
  for (std::size_t knob = 0; knob < values.size(); ++knob) {
    for (std::size_t value = 1; value < values[knob]; ++value) {
      Combination alone = usual;
      alone[knob] = value;
      search.add(alone, response(alone));
    }
  }
  return search;
}

// Measures until nothing is left, and returns the number of combinations.
std::size_t finish(CoordinateSearch& search, const Response& response) {
  std::set<Combination> measured;
  while (const auto next = search.next()) {
    EXPECT_TRUE(measured.insert(*next).second) << "measured twice";
    search.add(*next, response(*next));
  }
  return measured.size();
}

TEST(CoordinateSearch, FindsTwoValuesThatLoseAloneAndGainTogether) {
  const Response response = [](const Combination& at) {
    constexpr double kFirst[] = {0, 0.05, 0.10, 0.02};
    constexpr double kSecond[] = {0, 0.04, 0.01};
    return at == Combination{2, 1} ? -0.4 : kFirst[at[0]] + kSecond[at[1]];
  };
  CoordinateSearch search = begun({4, 3}, response);
  // One at a time nothing is better than the default.
  ASSERT_EQ(search.best(), (Combination{0, 0}));
  EXPECT_EQ(finish(search, response), 6U);
  EXPECT_EQ(search.best(), (Combination{2, 1}));
  EXPECT_EQ(search.log_time({2, 1}), -0.4);
}

TEST(CoordinateSearch, ChoosesAnotherValueBesideAnotherOne) {
  // Alone the first value of both is the best. Beside it, the second value of the other one is.
  const Response response = [](const Combination& at) {
    constexpr double kTimes[3][3] = {{1.0, 0.8, 0.9}, {0.7, 0.75, 0.5}, {1.1, 1.0, 1.2}};
    return std::log(kTimes[at[0]][at[1]]);
  };
  CoordinateSearch search = begun({3, 3}, response);
  ASSERT_EQ(search.best(), (Combination{1, 0}));
  finish(search, response);
  EXPECT_EQ(search.best(), (Combination{1, 2}));
}

TEST(CoordinateSearch, GoesOnFromTheBestPairWithoutMeasuringAll) {
  const Response response = [](const Combination& at) {
    if (at == Combination{1, 2, 1}) return -0.5;
    if (at == Combination{1, 2, 0}) return -0.2;
    return 0.01 * static_cast<double>(at[0] + at[1] + at[2]);
  };
  CoordinateSearch search = begun({3, 3, 3}, response);
  // Twelve pairs, and what differs in one value from the best of them and from the best of all.
  EXPECT_EQ(finish(search, response), 16U);
  EXPECT_EQ(search.best(), (Combination{1, 2, 1}));
}

TEST(CoordinateSearch, BeginsWithWhatIsExpectedToBeBest) {
  CoordinateSearch search = begun({3, 3}, [](const Combination& at) {
    constexpr double kFirst[] = {0, 0.3, 0.1};
    constexpr double kSecond[] = {0, 0.2, 0.4};
    return kFirst[at[0]] + kSecond[at[1]];
  });
  EXPECT_EQ(search.next(), (Combination{2, 1}));
  search.add({2, 1}, 0.3);
  EXPECT_EQ(search.next(), (Combination{1, 1}));
}

TEST(CoordinateSearch, LeavesOutWhatCannotBeMeasured) {
  const Response response = [](const Combination& at) {
    return at[0] + at[1] == 2 ? std::numeric_limits<double>::quiet_NaN() : 0.0;
  };
  CoordinateSearch search = begun({2, 2}, response);
  EXPECT_EQ(finish(search, response), 1U);
  EXPECT_EQ(search.best(), (Combination{0, 0}));
}

TEST(CoordinateSearch, HasNothingToLookForInOneKnob) {
  CoordinateSearch search =
      begun({4}, [](const Combination& at) { return at[0] == 2 ? -0.1 : 0.0; });
  EXPECT_FALSE(search.next());
  EXPECT_EQ(CoordinateSearch({3, 2}).best(), (Combination{0, 0}));
}

}  // namespace
}  // namespace stripline::search
