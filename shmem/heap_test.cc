#include "shmem/heap.h"

#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::shmem {
namespace {

TEST(Heap, GivesTheSameOffsetsForTheSameCalls) {
  Heap one(1 << 20);
  Heap other(1 << 20);
  for (const uint64_t bytes : {1, 64, 65, 4096, 7}) {
    EXPECT_EQ(one.allocate(bytes), other.allocate(bytes)) << bytes;
  }
}

TEST(Heap, GivesNothingBeyondItsEndAndIsUsableAfterwards) {
  Heap heap(1024);
  EXPECT_FALSE(heap.allocate(1025));
  EXPECT_FALSE(heap.allocate(UINT64_MAX));
  EXPECT_FALSE(heap.allocate(UINT64_MAX - 63));
  EXPECT_EQ(heap.allocate(1024), 0);
  EXPECT_FALSE(heap.allocate(1));
  EXPECT_TRUE(heap.free(0));
  EXPECT_EQ(heap.allocate(1), 0);
}

TEST(Heap, AlignsAsIsAskedFor) {
  Heap heap(1 << 20);
  ASSERT_EQ(heap.allocate(1), 0);
  EXPECT_EQ(heap.allocate(1, 4096), 4096);
  EXPECT_EQ(heap.allocate(64), 64);  // the room before it is not lost
  EXPECT_FALSE(heap.allocate(1, uint64_t{1} << 40));
}

TEST(Heap, ResizesInPlaceWhereThereIsRoom) {
  Heap heap(1024);
  ASSERT_EQ(heap.allocate(100), 0);
  EXPECT_TRUE(heap.resize(0, 1000));
  EXPECT_EQ(heap.size_of(0), 1000);
  EXPECT_FALSE(heap.allocate(1));
  EXPECT_TRUE(heap.resize(0, 64));
  EXPECT_EQ(heap.allocate(64), 64);
  EXPECT_FALSE(heap.resize(0, 65));
  EXPECT_EQ(heap.size_of(0), 64);
}

TEST(Heap, KnowsItsBlocks) {
  Heap heap(1024);
  ASSERT_EQ(heap.allocate(128), 0);
  EXPECT_FALSE(heap.free(64));
  EXPECT_FALSE(heap.size_of(64));
  EXPECT_TRUE(heap.free(0));
  EXPECT_FALSE(heap.free(0));
}

TEST(Heap, HoldsWhatWasAskedFor) {
  Heap heap(1024);
  EXPECT_FALSE(heap.holds(0, 1));
  ASSERT_EQ(heap.allocate(100), 0);
  ASSERT_EQ(heap.allocate(10), 128);
  EXPECT_TRUE(heap.holds(0, 100));
  EXPECT_TRUE(heap.holds(99, 1));
  EXPECT_FALSE(heap.holds(99, 2));
  EXPECT_FALSE(heap.holds(100, 1));
  EXPECT_FALSE(heap.holds(0, UINT64_MAX));
  EXPECT_FALSE(heap.holds(64, 74));  // two blocks
  EXPECT_TRUE(heap.holds(130, 8));
  ASSERT_TRUE(heap.free(0));
  EXPECT_FALSE(heap.holds(0, 1));
  EXPECT_TRUE(heap.holds(128, 10));
}

// Against a map of bytes: blocks never overlap, and all comes back together.
TEST(Heap, AgreesWithAMapOfItsBytes) {
  std::mt19937 random(1);
  constexpr uint64_t kBytes = 1 << 14;
  Heap heap(kBytes);
  std::map<uint64_t, uint64_t> blocks;
  for (int step = 0; step < 20000; ++step) {
    if (!blocks.empty() && random() % 2 == 0) {
      auto block = blocks.begin();
      std::advance(block, random() % blocks.size());
      if (random() % 3 == 0) {
        const uint64_t bytes = 1 + random() % 600;
        if (heap.resize(block->first, bytes)) block->second = bytes;
      } else {
        EXPECT_TRUE(heap.free(block->first));
        blocks.erase(block);
      }
    } else {
      const uint64_t bytes = 1 + random() % 600;
      const uint64_t alignment = uint64_t{64} << (random() % 4);
      const auto offset = heap.allocate(bytes, alignment);
      if (!offset) continue;
      EXPECT_EQ(*offset % alignment, 0);
      blocks[*offset] = bytes;
    }
    uint64_t end = 0;
    for (const auto& [offset, bytes] : blocks) {
      ASSERT_GE(offset, end);
      end = offset + bytes;
    }
    ASSERT_LE(end, kBytes);
  }
  for (const auto& [offset, bytes] : blocks) EXPECT_TRUE(heap.free(offset));
  EXPECT_EQ(heap.free_bytes(), kBytes);
  EXPECT_EQ(heap.allocate(kBytes), 0);
}

}  // namespace
}  // namespace stripline::shmem
