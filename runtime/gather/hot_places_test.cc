#include "runtime/gather/hot_places.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/random.h"

namespace stripline::gathers {
namespace {

using Places = std::vector<uint32_t>;

std::vector<HotPlaces> found(const std::vector<Places>& needs, size_t most = 4) {
  const std::vector<std::span<const uint32_t>> spans(needs.begin(), needs.end());
  return hot_places(spans, most);
}

TEST(HotPlaces, AreWhatManyNeed) {
  const auto hot = found({{1, 5, 7, 9}, {2, 5, 9}, {5, 9, 30}, {8}, {5, 9}});
  ASSERT_EQ(hot.size(), 1U);
  EXPECT_EQ(hot[0].places, (Places{5, 9}));
  EXPECT_EQ(hot[0].readers, (std::vector<size_t>{0, 1, 2, 4}));
  EXPECT_EQ(hot[0].most_besides, 2U);
}

TEST(HotPlaces, OfFewReadersAreNone) {
  EXPECT_TRUE(found({}).empty());
  EXPECT_TRUE(found({{1, 2}, {1, 2}}).empty());
  EXPECT_TRUE(found({{1, 2}, {1, 2}, {3}, {3}}).empty());
}

TEST(HotPlaces, ThatSaveMostComeFirst) {
  // One that all need, or ten that three of them do.
  std::vector<Places> needs(5, Places{0});
  for (size_t reader = 0; reader < 3; ++reader) {
    for (uint32_t place = 10; place < 20; ++place) needs[reader].push_back(place);
  }
  auto hot = found(needs);
  ASSERT_EQ(hot.size(), 2U);
  EXPECT_EQ(hot[0].places.size(), 11U);
  EXPECT_EQ(hot[0].readers.size(), 3U);
  EXPECT_EQ(hot[1].readers.size(), 5U);
  EXPECT_EQ(found(needs, 1).size(), 1U);
}

TEST(HotPlaces, AreNeededByTheirReaders) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SplitMix64 random(seed);
    std::vector<Places> needs(2 + random.next() % 7);
    for (Places& places : needs) {
      for (uint32_t place = 0; place < 40; ++place) {
        if (random.next() % 4 != 0 || place % 5 == 0) places.push_back(place);
      }
    }
    for (const HotPlaces& one : found(needs)) {
      EXPECT_GE(one.readers.size(), kFewestReaders);
      ASSERT_FALSE(one.places.empty());
      for (size_t reader = 0; reader < needs.size(); ++reader) {
        EXPECT_EQ(std::ranges::includes(needs[reader], one.places),
                  std::ranges::binary_search(one.readers, reader));
      }
    }
  }
}

TEST(HotPlaces, ComeLast) {
  const Places places = {2, 3, 5, 8, 9};
  EXPECT_EQ(hot_last(places, Places{3, 9}), (Places{0, 3, 1, 2, 4}));
  EXPECT_EQ(hot_last(places, Places{}), (Places{0, 1, 2, 3, 4}));
  EXPECT_EQ(hot_last(places, places), (Places{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace stripline::gathers
