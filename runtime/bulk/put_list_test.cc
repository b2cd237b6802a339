#include "runtime/bulk/put_list.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::bulk {
namespace {

OutstandingPut put(uint64_t begin, uint64_t end, uint32_t slot) { return {begin, end, {slot, 0}}; }

TEST(PutList, GivesTheOldestFirst) {
  PutList list;
  EXPECT_TRUE(list.empty());
  list.add(put(100, 200, 1));
  list.add(put(0, 50, 2));
  list.add(put(300, 400, 3));
  EXPECT_EQ(list.size(), 3U);
  EXPECT_EQ(list.oldest().use.slot, 1U);
  EXPECT_EQ(list.take_oldest().use.slot, 1U);
  EXPECT_EQ(list.take_oldest().use.slot, 2U);
  EXPECT_EQ(list.take_oldest().use.slot, 3U);
  EXPECT_TRUE(list.empty());
}

TEST(PutList, FindsWhatOverlapsAndNothingBeside) {
  PutList list;
  list.add(put(100, 200, 1));
  list.add(put(300, 400, 2));
  EXPECT_FALSE(list.take_overlapping(0, 100));
  EXPECT_FALSE(list.take_overlapping(200, 300));
  EXPECT_FALSE(list.take_overlapping(400, 500));
  const auto both = list.take_overlapping(199, 301);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->use.slot, 1U);
  EXPECT_EQ(list.take_overlapping(199, 301)->use.slot, 2U);
  EXPECT_FALSE(list.take_overlapping(199, 301));
  EXPECT_TRUE(list.empty());
  // The box of what was there before is forgotten.
  list.add(put(1000, 1001, 3));
  EXPECT_FALSE(list.take_overlapping(0, 1000));
  EXPECT_TRUE(list.take_overlapping(1000, 1001));
}

TEST(PutLists, KnowWhichTargetsHaveSome) {
  PutLists lists(4);
  EXPECT_TRUE(lists.empty());
  EXPECT_EQ(lists.size(3), 0U);
  EXPECT_EQ(lists.oldest(3), nullptr);
  EXPECT_FALSE(lists.take_overlapping(3, 0, 100));
  lists.add(3, put(0, 8, 1));
  lists.add(1, put(0, 8, 2));
  lists.add(3, put(8, 16, 3));
  EXPECT_EQ(lists.size(3), 2U);
  EXPECT_EQ(lists.oldest(3)->use.slot, 1U);
  EXPECT_FALSE(lists.take_overlapping(2, 0, 100));
  EXPECT_EQ(lists.take_overlapping(3, 8, 16)->use.slot, 3U);
  EXPECT_EQ(lists.take_oldest(3).use.slot, 1U);
  EXPECT_FALSE(lists.empty());
  EXPECT_EQ(lists.take_any().use.slot, 2U);
  EXPECT_TRUE(lists.empty());
}

// Against a list that is looked through.
TEST(PutLists, AgreeWithAPlainList) {
  struct Plain {
    rank_t target;
    OutstandingPut put;
  };
  std::mt19937_64 random(7);
  PutLists lists(5);
  std::vector<Plain> plain;
  for (uint32_t i = 0; i < 20000; ++i) {
    const auto target = static_cast<rank_t>(random() % 5);
    const uint64_t begin = random() % 1000;
    const uint64_t end = begin + 1 + random() % 20;
    const auto overlaps = [&](const Plain& one) {
      return one.target == target && one.put.begin < end && begin < one.put.end;
    };
    while (const auto taken = lists.take_overlapping(target, begin, end)) {
      const auto expected = std::ranges::find_if(plain, overlaps);
      ASSERT_NE(expected, plain.end());
      ASSERT_EQ(taken->use.slot, expected->put.use.slot);
      plain.erase(expected);
    }
    ASSERT_TRUE(std::ranges::none_of(plain, overlaps));
    if (random() % 8 == 0 && lists.size(target) > 0) {
      const uint32_t slot = lists.take_oldest(target).use.slot;
      const auto expected = std::ranges::find(plain, target, &Plain::target);
      ASSERT_EQ(slot, expected->put.use.slot);
      plain.erase(expected);
    }
    lists.add(target, put(begin, end, i));
    plain.push_back({target, put(begin, end, i)});
  }
  while (!lists.empty()) {
    const uint32_t slot = lists.take_any().use.slot;
    EXPECT_EQ(std::erase_if(plain, [&](const Plain& one) { return one.put.use.slot == slot; }), 1U);
  }
  EXPECT_TRUE(plain.empty());
}

}  // namespace
}  // namespace stripline::bulk
