#include "runtime/bulk/ahead_buffers.h"

#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::bulk {
namespace {

struct Over {
  std::set<uint32_t> slots;
  bool operator()(const rma::SlotUse& use) const { return slots.contains(use.slot); }
};

TEST(AheadBuffers, HaveNoMemoryBeforeItIsWanted) {
  AheadBuffers buffers;
  EXPECT_EQ(buffers.capacity(), 0U);
  EXPECT_FALSE(buffers.acquire(8, {1, 0}));
  buffers.fit(100, 64);
  EXPECT_EQ(buffers.capacity(), 64U);
  EXPECT_FALSE(buffers.acquire(65, {1, 0}));
  EXPECT_TRUE(buffers.acquire(64, {1, 0}));
}

TEST(AheadBuffers, AreKeptByGetsInFlight) {
  AheadBuffers buffers;
  buffers.fit(64, 64);
  const auto first = buffers.acquire(32, {1, 0});
  const auto second = buffers.acquire(32, {2, 0});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(buffers.memory_of(second->number), second->memory);
  EXPECT_EQ(buffers.use_of(second->number).slot, 2U);
  EXPECT_FALSE(buffers.acquire(32, {3, 0}));
  // Neither wanted nor over, then not wanted, then over.
  buffers.collect(Over{{1, 2}});
  EXPECT_FALSE(buffers.acquire(32, {3, 0}));
  buffers.give_back(first->number);
  buffers.collect(Over{{2}});
  EXPECT_FALSE(buffers.acquire(32, {3, 0}));
  buffers.collect(Over{{1, 2}});
  const auto third = buffers.acquire(32, {3, 0});
  ASSERT_TRUE(third);
  EXPECT_EQ(third->memory, first->memory);
  EXPECT_NE(third->number, first->number);
  EXPECT_EQ(buffers.memory_of(second->number), second->memory);
}

TEST(AheadBuffers, AreClearedOnceTheirGetsAreComplete) {
  AheadBuffers buffers;
  buffers.fit(64, 64);
  buffers.acquire(32, {1, 0});
  buffers.acquire(32, {2, 0});
  std::vector<uint32_t> finished;
  buffers.clear([&](const rma::SlotUse& use) { finished.push_back(use.slot); });
  EXPECT_EQ(finished, (std::vector<uint32_t>{1, 2}));
  EXPECT_TRUE(buffers.empty());
  EXPECT_TRUE(buffers.acquire(64, {3, 0}));
}

TEST(AheadBuffers, GrowWhileNoneIsInUse) {
  AheadBuffers buffers;
  buffers.fit(16, 1024);
  const auto one = buffers.acquire(16, {1, 0});
  buffers.fit(100, 1024);
  EXPECT_EQ(buffers.capacity(), 16U);
  buffers.give_back(one->number);
  buffers.collect(Over{{1}});
  EXPECT_TRUE(buffers.empty());
  buffers.fit(100, 1024);
  EXPECT_EQ(buffers.capacity(), 100U);
  buffers.fit(50, 1024);
  EXPECT_EQ(buffers.capacity(), 100U);
}

}  // namespace
}  // namespace stripline::bulk
