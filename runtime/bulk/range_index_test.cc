#include "runtime/bulk/range_index.h"

#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::bulk {
namespace {

using Entries = std::vector<RangeIndex::Entry>;

TEST(RangeIndex, OfNothingFindsNothing) {
  RangeIndex index;
  EXPECT_TRUE(index.empty());
  EXPECT_FALSE(index.take_same(0, 0, 8));
  EXPECT_FALSE(index.take_overlapping(0, 0, UINT64_MAX));
  index.build({});
  EXPECT_TRUE(index.empty());
  EXPECT_FALSE(index.take_same(0, 0, 8));
  EXPECT_FALSE(index.take_overlapping(0, 0, UINT64_MAX));
}

TEST(RangeIndex, FindsEachRangeOnceByTheLowestNumber) {
  RangeIndex index;
  index.build({{1, 0, 8, 4}, {1, 0, 8, 2}, {1, 0, 16, 3}, {2, 0, 8, 1}});
  EXPECT_EQ(index.take_same(1, 0, 8), 2U);
  EXPECT_EQ(index.take_same(1, 0, 8), 4U);
  EXPECT_EQ(index.take_same(1, 0, 8), std::nullopt);
  EXPECT_EQ(index.take_same(1, 0, 12), std::nullopt) << "between two";
  EXPECT_EQ(index.take_same(1, 0, 16), 3U);
  EXPECT_EQ(index.take_same(3, 0, 8), std::nullopt) << "behind all";
  EXPECT_EQ(index.take_same(2, 0, 8), 1U);
  // An overlap is found all the same.
  EXPECT_TRUE(index.take_overlapping(2, 0, 1));
  EXPECT_FALSE(index.take_overlapping(2, 0, 1));
  index.clear();
  EXPECT_TRUE(index.empty());
}

// Against a look at all of them.
TEST(RangeIndex, FindsAllThatOverlapARange) {
  std::mt19937_64 random(11);
  for (const uint32_t count : {1U, 2U, 3U, 64U, 500U}) {
    Entries entries;
    for (uint32_t i = 0; i < count; ++i) {
      // Most are short, and some lie across many others.
      const uint64_t begin = random() % 2000;
      const uint64_t bytes = 1 + (random() % 16 == 0 ? random() % 1000 : random() % 20);
      entries.push_back({static_cast<rank_t>(random() % 3), begin, begin + bytes, i});
    }
    RangeIndex index;
    index.build(entries);
    std::set<uint32_t> left;
    for (const RangeIndex::Entry& entry : entries) left.insert(entry.number);
    for (int store = 0; store < 200; ++store) {
      const auto rank = static_cast<rank_t>(random() % 4);
      const uint64_t begin = random() % 2500;
      const uint64_t end = begin + 1 + random() % 15;
      std::set<uint32_t> expected;
      for (const RangeIndex::Entry& entry : entries) {
        if (entry.rank == rank && entry.begin < end && begin < entry.end &&
            left.erase(entry.number) > 0) {
          expected.insert(entry.number);
        }
      }
      std::set<uint32_t> found;
      while (const auto number = index.take_overlapping(rank, begin, end)) {
        ASSERT_TRUE(found.insert(*number).second) << *number << " twice";
      }
      ASSERT_EQ(found, expected) << count << " ranges, store " << store;
    }
  }
}

}  // namespace
}  // namespace stripline::bulk
