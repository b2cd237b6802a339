#include "runtime/rma/symmetric_heap.h"

#include <cstdint>
#include <map>
#include <random>

#include <gtest/gtest.h>

namespace stripline::rma {
namespace {

TEST(SymmetricHeap, AlignsAndTakesTheFirstGap) {
  SymmetricHeap heap(1024);
  EXPECT_EQ(*heap.allocate(1), 0U);
  EXPECT_EQ(*heap.allocate(65), 64U);
  EXPECT_EQ(*heap.allocate(64), 192U);
  ASSERT_TRUE(heap.free(64).ok());
  EXPECT_EQ(*heap.allocate(200), 256U);  // the gap of 128 is too small
  EXPECT_EQ(*heap.allocate(0), 64U);
  EXPECT_EQ(*heap.allocate(0), 128U);
}

TEST(SymmetricHeap, ExhaustionNamesTheRoomAndTheRemedy) {
  SymmetricHeap heap(1000);  // 960 usable
  EXPECT_EQ(heap.free_bytes(), 960U);
  ASSERT_TRUE(heap.allocate(512).ok());
  const auto refused = heap.allocate(449);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), ErrorCode::resource_exhausted);
  EXPECT_NE(refused.error().message().find("448 of 1000 bytes are free"), std::string::npos)
      << refused.error().message();
  EXPECT_NE(refused.error().message().find("--segment"), std::string::npos);
  EXPECT_FALSE(heap.allocate(UINT64_MAX).ok());
  EXPECT_FALSE(heap.allocate(UINT64_MAX - 63).ok());
  EXPECT_TRUE(heap.allocate(448).ok());
  EXPECT_EQ(heap.free_bytes(), 0U);
}

TEST(SymmetricHeap, RefusesToFreeTwiceOrInTheMiddle) {
  SymmetricHeap heap(1024);
  ASSERT_TRUE(heap.allocate(128).ok());
  EXPECT_EQ(heap.free(64).error().code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(heap.free(0).ok());
  EXPECT_EQ(heap.free(0).error().code(), ErrorCode::invalid_argument);
}

// Against an oracle that knows nothing of blocks: arrays never overlap, stay inside, and everything
// freed becomes one block again. Two heaps with the same calls agree.
TEST(SymmetricHeap, RandomCallsNeverOverlapAndCoalesce) {
  constexpr uint64_t kBytes = 1 << 16;
  std::mt19937_64 random(7);  // NOLINT(bugprone-random-generator-seed)
  SymmetricHeap heap(kBytes);
  SymmetricHeap twin(kBytes);
  std::map<uint64_t, uint64_t> live;
  for (int step = 0; step < 20000; ++step) {
    if (live.empty() || random() % 2 == 0) {
      const uint64_t bytes = random() % 4000;
      const auto offset = heap.allocate(bytes);
      const auto same = twin.allocate(bytes);
      ASSERT_EQ(offset.ok(), same.ok());
      if (!offset.ok()) {
        ASSERT_LT(heap.largest_free_block(), bytes);
        continue;
      }
      ASSERT_EQ(*offset, *same);
      ASSERT_EQ(*offset % 64, 0U);
      ASSERT_LE(*offset + bytes, kBytes);
      const auto next = live.lower_bound(*offset);
      if (next != live.end()) {
        ASSERT_LE(*offset + bytes, next->first);
      }
      if (next != live.begin()) {
        const auto& [start, size] = *std::prev(next);
        ASSERT_GE(*offset, start + size);
      }
      live.emplace(*offset, std::max<uint64_t>(bytes, 1));
    } else {
      auto victim = live.begin();
      std::advance(victim, static_cast<std::ptrdiff_t>(random() % live.size()));
      ASSERT_TRUE(heap.free(victim->first).ok());
      ASSERT_TRUE(twin.free(victim->first).ok());
      live.erase(victim);
    }
  }
  for (const auto& [offset, bytes] : live) ASSERT_TRUE(heap.free(offset).ok());
  EXPECT_EQ(heap.free_bytes(), kBytes);
  EXPECT_EQ(heap.largest_free_block(), kBytes);
}

}  // namespace
}  // namespace stripline::rma
