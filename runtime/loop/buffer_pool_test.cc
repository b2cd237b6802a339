#include "runtime/loop/buffer_pool.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/host_memory.h"

namespace stripline::detail {
namespace {

constexpr uint64_t kBudget = uint64_t{1} << 20;

void describe(const BufferPool::Use& use) {
  ASSERT_NE(use.buffer(), nullptr);
  use.buffer()->contents.push_back({0, {.base = 0, .run_bytes = 8}, use.memory(), true});
}

TEST(BufferPool, KeepsBuffersAndGivesThemOutAgain) {
  BufferPool pool(kBudget);
  for (int round = 0; round < 3; ++round) {
    const BufferPool::Use outer = pool.acquire(100000);
    const BufferPool::Use inner = pool.acquire(5000);
    EXPECT_NE(outer.memory(), inner.memory());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(inner.memory()) % kAlignment, 0U);
  }
  EXPECT_EQ(pool.statistics().allocations, 2U);
  // One that has become too small goes.
  { const BufferPool::Use larger = pool.acquire(200000); }
  EXPECT_EQ(pool.bytes(), 205000U);
}

TEST(BufferPool, LargeBuffersBeginWhereHugePagesDo) {
  BufferPool pool(8 * kHugePageBytes);
  for (const uint64_t bytes : {kHugePageBytes, 3 * kHugePageBytes + 100}) {
    const BufferPool::Use large = pool.acquire(bytes);
    ASSERT_NE(large.memory(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(large.memory()) % kHugePageBytes, 0U);
    std::fill_n(large.memory(), bytes, std::byte{1});
    EXPECT_EQ(large.buffer()->capacity, bytes);
  }
}

TEST(BufferPool, LoopsInsideOfOthersHaveTheRest) {
  BufferPool pool(kBudget);
  EXPECT_EQ(pool.room(), kBudget / 2);
  const BufferPool::Use outer = pool.acquire(300000);
  EXPECT_EQ(pool.room(), kBudget / 4);
  {
    const BufferPool::Use inner = pool.acquire(pool.room());
    EXPECT_EQ(pool.room(), kBudget / 8);
  }
  EXPECT_EQ(pool.room(), kBudget / 4);
  EXPECT_LE(pool.statistics().most_bytes, kBudget);
}

// What a loop asks for little of is not given much, which it would keep from those in its body.
TEST(BufferPool, LargeBuffersAreNotForSmallLoops) {
  BufferPool pool(kBudget);
  { const BufferPool::Use large = pool.acquire(kBudget - 8192); }
  const BufferPool::Use small = pool.acquire(100);
  EXPECT_GE(pool.room(), kBudget / 4);
}

TEST(BufferPool, TheLeastRecentlyUsedGoesFirst) {
  BufferPool pool(kBudget);
  const auto fill = [&] {
    const BufferPool::Use use = pool.acquire(kBudget / 4);
    describe(use);
    return use.memory();
  };
  std::vector<std::byte*> memory;
  for (int i = 0; i < 4; ++i) memory.push_back(fill());
  EXPECT_EQ(pool.statistics().evicted_regions, 0U);
  // The first is used once more, so that the second is the oldest.
  for (const auto& buffer : pool.buffers()) {
    if (buffer->memory.get() == memory[0]) const BufferPool::Use served(pool, *buffer);
  }
  EXPECT_EQ(fill(), memory[1]);
  EXPECT_EQ(pool.statistics().evicted_regions, 1U);
  EXPECT_EQ(fill(), memory[2]);
  // What is in use stays.
  {
    std::vector<BufferPool::Use> uses;
    for (const auto& buffer : pool.buffers()) {
      if (buffer->memory.get() != memory[3]) uses.emplace_back(pool, *buffer);
    }
    EXPECT_EQ(fill(), memory[3]);
  }
  EXPECT_LE(pool.statistics().most_bytes, kBudget);
}

// Programs may go through very many small loops between two synchronisations.
TEST(BufferPool, SmallBuffersDoNotBecomeTooMany) {
  BufferPool pool(uint64_t{64} << 20);
  for (int i = 0; i < 2000; ++i) {
    const BufferPool::Use use = pool.acquire(100);
    describe(use);
    ASSERT_LE(pool.buffers().size(), BufferPool::kMostBuffers);
  }
  EXPECT_EQ(pool.statistics().evicted_regions, 2000 - BufferPool::kMostBuffers);
  // Those in use stay.
  std::vector<BufferPool::Use> uses;
  for (size_t i = 0; i < BufferPool::kMostBuffers + 10; ++i) {
    uses.push_back(pool.acquire(100));
    ASSERT_NE(uses.back().memory(), nullptr);
    describe(uses.back());
  }
  EXPECT_EQ(pool.buffers().size(), BufferPool::kMostBuffers + 10);
}

// A loop has to have one granule, however large.
TEST(BufferPool, WhatIsBeyondTheBudgetGoesAtOnce) {
  BufferPool pool(kBudget);
  { const BufferPool::Use usual = pool.acquire(1000); }
  {
    const BufferPool::Use large = pool.acquire(3 * kBudget);
    ASSERT_NE(large.memory(), nullptr);
    EXPECT_EQ(pool.room(), 0U);
    const BufferPool::Use inner = pool.acquire(64);
    ASSERT_NE(inner.memory(), nullptr);
  }
  EXPECT_LE(pool.bytes(), kBudget);
}

TEST(BufferPool, StaysWithinTheBudgetWhateverIsAskedForWithinTheRoom) {
  std::mt19937 random(1);  // NOLINT(*-msc51-cpp): the same every time
  const auto below = [&](uint64_t n) { return random() % n; };
  BufferPool pool(kBudget);
  std::vector<BufferPool::Use> uses;
  for (int step = 0; step < 5000; ++step) {
    if (uses.size() == 4 || (!uses.empty() && below(2) == 0)) {
      uses.pop_back();
    } else if (const uint64_t room = pool.room(); room > 0) {
      BufferPool::Use use = pool.acquire(1 + below(room) / (1 + below(100)));
      ASSERT_NE(use.memory(), nullptr);
      use.buffer()->contents.clear();
      if (below(2) == 0) describe(use);
      uses.push_back(std::move(use));
    }
    ASSERT_LE(pool.bytes(), kBudget);
  }
  EXPECT_GT(pool.statistics().evicted_regions, 0U);
}

}  // namespace
}  // namespace stripline::detail
