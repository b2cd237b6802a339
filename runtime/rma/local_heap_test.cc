// Memory that one rank allocates, beside the symmetric arrays.
#include "runtime/rma/local_heap.h"

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/atomic.h>
#include <stripline/context.h>

#include "base/testing/assert_ok.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

TEST(LocalHeap, BlocksDoNotOverlapAndAllComesBack) {
  constexpr uint64_t kBytes = 1 << 20;
  rma::LocalHeap heap(kBytes);
  std::map<uint64_t, uint64_t> blocks;
  std::mt19937_64 random(1);
  for (int step = 0; step < 3000; ++step) {
    if (blocks.size() > 40 || (!blocks.empty() && random() % 3 == 0)) {
      auto one = blocks.begin();
      std::advance(one, static_cast<std::ptrdiff_t>(random() % blocks.size()));
      ASSERT_TRUE(heap.free(one->first).ok());
      blocks.erase(one);
      continue;
    }
    const uint64_t bytes = random() % 10000;
    ASSERT_OK_AND_ASSIGN(const auto offset, heap.allocate(bytes, 1000));
    ASSERT_EQ(offset % 64, 0U);
    ASSERT_LE(offset + bytes, kBytes);
    ASSERT_GE(offset, heap.free_below());
    const auto next = blocks.lower_bound(offset);
    if (next != blocks.end()) {
      ASSERT_LE(offset + bytes, next->first);
    }
    if (next != blocks.begin()) {
      const auto before = std::prev(next);
      ASSERT_LE(before->first + before->second, offset);
    }
    blocks.emplace(offset, bytes);
  }
  while (!blocks.empty()) {
    ASSERT_TRUE(heap.free(blocks.begin()->first).ok());
    blocks.erase(blocks.begin());
  }
  EXPECT_EQ(heap.free_below(), kBytes);
  // The whole of it at once: no piece is lost.
  ASSERT_OK_AND_ASSIGN(const auto all, heap.allocate(kBytes - rma::LocalHeap::kGap, 0));
  EXPECT_FALSE(heap.allocate(1, 0).ok());
  EXPECT_FALSE(heap.free(all + 64).ok());
}

class LocalMemory : public bootstrap::RanksTest {};

// Ranks allocate different amounts, tell each other where, and use it; symmetric arrays that are
// made meanwhile have the same offsets.
TEST_P(LocalMemory, IsReachedByOthersAndLeavesArraysSymmetric) {
  on_ranks(3, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto slots, context.new_symmetric_array<global_ptr<uint64_t>>(1));
    const size_t count = size_t{100} * (context.rank_me() + 1);
    std::vector<global_ptr<uint64_t>> spare;
    for (rank_t i = 0; i < context.rank_me(); ++i) {
      spare.push_back(*context.allocate_local<uint64_t>(1000));
    }
    ASSERT_OK_AND_ASSIGN(const auto mine, context.allocate_local<uint64_t>(count));
    for (size_t i = 0; i < count; ++i)
      context.local(mine)[i] = uint64_t{1000} * context.rank_me() + i;
    *context.local(slots) = mine;
    ASSERT_OK_AND_ASSIGN(const auto later, context.new_symmetric_array<uint64_t>(10));
    EXPECT_EQ(context.broadcast(later.offset(), 0), later.offset());
    context.barrier();
    const rank_t next = (context.rank_me() + 1) % 3;
    const global_ptr<uint64_t> there = context.rget(context.on_rank(slots, next));
    EXPECT_EQ(there.where(), next);
    EXPECT_EQ(context.rget(there + 50), next * 1000 + 50);
    context.rput(uint64_t{5}, there + 51);
    context.barrier();
    EXPECT_EQ(context.local(mine)[51], 5U);
    for (const auto one : spare) context.deallocate_local(one);
    context.deallocate_local(mine);
    context.deallocate_local(global_ptr<uint64_t>());
    context.barrier();
  });
}

void plain_pointers_become_global_ones(Context& context) {
  ASSERT_OK_AND_ASSIGN(const auto array, context.new_symmetric_array<uint32_t>(100));
  uint32_t* const plain = context.local(array);
  EXPECT_EQ(context.try_global_ptr(plain + 7), array + 7);
  const uint32_t* const constant = plain;
  EXPECT_EQ(context.try_global_ptr(constant), array);
  uint32_t here = 0;
  EXPECT_TRUE(context.try_global_ptr(&here).is_null());
  EXPECT_TRUE(context.try_global_ptr(static_cast<uint32_t*>(nullptr)).is_null());
  const auto there = context.on_rank(array, 1 - context.rank_me()) + 3;
  if (context.is_local(there)) {
    EXPECT_EQ(context.try_global_ptr(context.local(there)), there);
  }
  context.barrier();
}

// One rank has little left: all are refused, or none, and what fits still does.
void exhaustion_is_the_same_on_all_ranks(Context& context) {
  constexpr size_t kMost = size_t{7} << 20;
  global_ptr<std::byte> large;
  if (context.rank_me() == 1) large = *context.allocate_local<std::byte>(kMost);
  const auto refused = context.new_symmetric_array<std::byte>(size_t{2} << 20);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("allocate_local"), std::string::npos);
  const auto fits = context.new_symmetric_array<std::byte>(size_t{1} << 19);
  EXPECT_TRUE(fits.ok());
  if (context.rank_me() == 1) {
    EXPECT_FALSE(context.allocate_local<std::byte>(size_t{1} << 20).ok());
    context.deallocate_local(large);
  }
  EXPECT_TRUE(context.new_symmetric_array<std::byte>(size_t{2} << 20).ok());
}

TEST_P(LocalMemory, OfTwoRanksHasItsLimits) {
  on_ranks(2, [](Context& context) {
    plain_pointers_become_global_ones(context);
    exhaustion_is_the_same_on_all_ranks(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, LocalMemory, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class LocalMemoryDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(LocalMemoryDeathTest, MistakesAreNamed) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const auto mine = *context.allocate_local<int>(4);
                         context.deallocate_local(mine + 16);
                       }),
              ::testing::ExitedWithCode(2), "nothing that allocate_local.. returned starts at");
  EXPECT_EXIT(
      on_ranks(2,
               [](Context& context) {
                 context.deallocate_local(context.on_rank(*context.allocate_local<int>(4), 7));
               }),
      ::testing::ExitedWithCode(2), "deallocate_local of memory of rank 7");
}

}  // namespace
}  // namespace stripline
