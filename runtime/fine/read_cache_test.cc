#include "runtime/fine/read_cache.h"

#include <cstdint>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace stripline::fine {
namespace {

constexpr size_t kPlenty = size_t{1} << 20;

bool all_over(const rma::SlotUse&) { return true; }
bool none_over(const rma::SlotUse&) { return false; }

// It has come.
void land(ReadCache& cache, uint32_t number, uint64_t epoch) {
  cache.make_room(number);
  cache[number].state = Box::State::here;
  cache[number].epoch = epoch;
}

TEST(ReadCache, FindsWhatABoxHolds) {
  ReadCache cache;
  cache.limit(kPlenty);
  EXPECT_EQ(cache.find(1, 0, 8, 1), ReadCache::kNone);
  const uint32_t box = cache.add(1, 100, 120, all_over);
  EXPECT_EQ(cache.find(1, 100, 120, 1), box) << "held";
  EXPECT_EQ(cache.find(1, 104, 112, 1), box);
  EXPECT_EQ(cache.find(1, 96, 104, 1), ReadCache::kNone);
  EXPECT_EQ(cache.find(1, 116, 124, 1), ReadCache::kNone);
  EXPECT_EQ(cache.find(0, 104, 112, 1), ReadCache::kNone);
  EXPECT_EQ(cache.find(2, 104, 112, 1), ReadCache::kNone);
  cache.widen(box, 80, 90);
  cache.widen(box, 118, 130);
  EXPECT_EQ(cache.find(1, 80, 130, 1), box);
  land(cache, box, 5);
  EXPECT_EQ(cache[box].bytes.size(), 50U);
  EXPECT_EQ(cache.find(1, 80, 88, 5), box);
  EXPECT_EQ(cache.find(1, 80, 88, 6), ReadCache::kNone) << "behind an acquire";
  cache[box].stale = true;
  EXPECT_EQ(cache.find(1, 80, 88, 5), ReadCache::kNone);
}

// The newest of several with one beginning.
TEST(ReadCache, FindsWhatIsNotStaleBesideWhatIs) {
  ReadCache cache;
  cache.limit(kPlenty);
  const uint32_t old = cache.add(0, 64, 72, all_over);
  land(cache, old, 1);
  cache[old].stale = true;
  const uint32_t fresh = cache.add(0, 64, 80, all_over);
  land(cache, fresh, 1);
  EXPECT_EQ(cache.find(0, 64, 72, 1), fresh);
}

TEST(ReadCache, VisitsAllThatOverlap) {
  std::mt19937_64 random(7);
  ReadCache cache;
  cache.limit(kPlenty);
  std::set<uint32_t> boxes;
  for (int i = 0; i < 200; ++i) {
    const uint64_t begin = random() % 1000;
    const uint32_t number =
        cache.add(static_cast<rank_t>(random() % 2), begin, begin + 1 + random() % 50, all_over);
    land(cache, number, 1);
    boxes.insert(number);
  }
  for (int i = 0; i < 200; ++i) {
    const auto rank = static_cast<rank_t>(random() % 2);
    const uint64_t begin = random() % 1100;
    const uint64_t end = begin + 1 + random() % 30;
    size_t expected = 0;
    for (const uint32_t number : boxes) {
      const Box& box = cache[number];
      expected += box.rank == rank && box.begin < end && begin < box.end ? 1 : 0;
    }
    size_t visited = 0;
    cache.for_each_overlapping(rank, begin, end, [&](const Box& box) {
      EXPECT_TRUE(box.rank == rank && box.begin < end && begin < box.end);
      ++visited;
    });
    ASSERT_EQ(visited, expected);
  }
}

TEST(ReadCache, ReusesWhatNoValueWaitsFor) {
  ReadCache cache;
  cache.limit(0);
  const uint32_t first = cache.add(0, 0, 8, all_over);
  EXPECT_NE(cache.add(0, 8, 16, all_over), first) << "held";
  land(cache, first, 1);
  cache[first].waiting = 1;
  const uint32_t third = cache.add(0, 16, 24, all_over);
  EXPECT_NE(third, first) << "a value waits for it";
  cache[first].waiting = 0;
  cache[first].state = Box::State::flying;
  const uint32_t fourth = cache.add(0, 24, 32, none_over);
  EXPECT_NE(fourth, first) << "in flight";
  EXPECT_EQ(cache.add(0, 32, 40, all_over), first);
  EXPECT_EQ(cache.find(0, 0, 8, 1), ReadCache::kNone);
  EXPECT_EQ(cache.find(0, 32, 40, 1), first);
}

TEST(ReadCache, ForgetsWhatNoValueWaitsFor) {
  ReadCache cache;
  cache.limit(kPlenty);
  const uint32_t idle = cache.add(0, 0, 64, all_over);
  const uint32_t awaited = cache.add(0, 64, 128, all_over);
  const uint32_t held = cache.add(0, 128, 136, all_over);
  land(cache, idle, 1);
  land(cache, awaited, 1);
  cache[awaited].waiting = 1;
  const size_t bytes = cache.bytes();
  cache.forget_idle();
  EXPECT_EQ(cache.find(0, 0, 64, 1), ReadCache::kNone);
  EXPECT_EQ(cache.find(0, 64, 128, 1), awaited);
  EXPECT_EQ(cache.find(0, 128, 136, 1), held);
  EXPECT_EQ(cache.add(1, 0, 64, all_over), idle);
  land(cache, idle, 2);
  EXPECT_EQ(cache.find(1, 0, 64, 2), idle);
  EXPECT_EQ(cache.bytes(), bytes) << "in the same memory";
  cache.limit(0);
  cache.forget_idle();
  EXPECT_LT(cache.bytes(), bytes);
}

TEST(ReadCache, KeepsToItsMemory) {
  ReadCache cache;
  constexpr size_t kLimit = 10000;
  cache.limit(kLimit);
  for (uint64_t i = 0; i < 1000; ++i) land(cache, cache.add(0, 100 * i, 100 * i + 64, all_over), 1);
  EXPECT_GT(cache.bytes(), kLimit / 2);
  EXPECT_LT(cache.bytes(), 2 * kLimit);
}

}  // namespace
}  // namespace stripline::fine
