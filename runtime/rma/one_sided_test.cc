#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/context.h>

#include "base/testing/assert_ok.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

class OneSided : public bootstrap::RanksTest {};

std::byte pattern(size_t i, uint64_t salt) {
  return static_cast<std::byte>((i * 131 + (i >> 8) * 17 + salt * 29 + 1) & 0xff);
}

constexpr size_t kMiB = size_t{1} << 20;

// Every size goes to the neighbour at an odd offset, comes back into another buffer, and leaves the
// bytes beside it alone.
TEST_P(OneSided, AllSizesArriveUnchanged) {
  on_ranks(2, [](Context& context) {
    const rank_t me = context.rank_me();
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<std::byte>(kMiB + 128));
    for (const rank_t target : {1 - me, me}) {
      uint64_t salt = uint64_t{target} * 100;
      for (const size_t bytes :
           {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{63}, size_t{64}, size_t{65},
            size_t{4095}, size_t{4096}, size_t{4097}, size_t{65536}, kMiB - 1, kMiB}) {
        ++salt;
        std::vector<std::byte> out(bytes + 2);
        for (size_t i = 0; i < out.size(); ++i) out[i] = pattern(i, salt);
        const auto there = context.on_rank(mine, target);
        context.rput(out.data(), there + 13, out.size()).wait();
        // The middle is overwritten; first and last byte must survive.
        std::vector<std::byte> middle(bytes);
        for (size_t i = 0; i < bytes; ++i) middle[i] = pattern(i, salt + 50);
        context.rput(middle.data(), there + 14, bytes).wait();
        std::vector<std::byte> in(bytes + 2);
        context.rget(there + 13, in.data(), in.size()).wait();
        ASSERT_EQ(in.front(), out.front()) << bytes;
        ASSERT_EQ(in.back(), out.back()) << bytes;
        ASSERT_TRUE(std::equal(middle.begin(), middle.end(), in.begin() + 1)) << bytes;
      }
      context.barrier();
    }
  });
}

TEST_P(OneSided, DroppedPutsAreVisibleAfterTheBarrier) {
  on_ranks(3, [](Context& context) {
    // More than there are completion slots, so that slots are reclaimed, too.
    constexpr size_t kPuts = rma::CompletionSlots::kDefaultCapacity + 500;
    const rank_t me = context.rank_me();
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(kPuts));
    const auto there = context.on_rank(mine, (me + 1) % 3);
    std::vector<uint64_t> values(kPuts);
    for (size_t i = 0; i < kPuts; ++i) {
      values[i] = uint64_t{me} * 1000000 + i;
      context.rput(&values[i], there + static_cast<std::ptrdiff_t>(i), 1);
    }
    context.barrier();
    const uint64_t* local = context.local(mine);
    const rank_t source = (me + 2) % 3;
    for (size_t i = 0; i < kPuts; ++i) ASSERT_EQ(local[i], uint64_t{source} * 1000000 + i) << i;
    context.barrier();
  });
}

TEST_P(OneSided, CopiesOfAFutureAgreeAlsoAfterItsSlotIsReused) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<double>(2));
    context.local(mine)[0] = context.rank_me() + 0.5;
    context.barrier();
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    double value = 0;
    const future first = context.rget(there, &value, 1);
    const future copy = first;
    copy.wait();
    EXPECT_EQ(value, 1 - context.rank_me() + 0.5);
    EXPECT_TRUE(first.is_ready());
    double other = 0;
    const future second = context.rget(there, &other, 1);
    first.wait();  // must not touch the second's slot
    EXPECT_TRUE(first.is_ready());
    second.wait();
    EXPECT_EQ(other, value);
    const future third = context.rget(there, &other, 1);
    while (!third.is_ready()) {
    }
    EXPECT_TRUE(third.is_ready());
    EXPECT_EQ(context.state().operations.slots().in_use(), 0U);
    EXPECT_TRUE(future().is_ready());
    context.barrier();
  });
}

// Random puts and gets of all sizes against a copy of what each place must hold. Each rank owns a
// window in every segment; operations on a block wait for the earlier one on that block, everything
// else is in flight together.
TEST_P(OneSided, RandomMixAgreesWithAnOracle) {
  constexpr rank_t kRanks = 4;
  constexpr size_t kBlock = 6000;
  constexpr size_t kBlocks = 12;
  on_ranks(kRanks, [](Context& context) {
    const rank_t me = context.rank_me();
    ASSERT_OK_AND_ASSIGN(const auto mine,
                         context.new_symmetric_array<std::byte>(kRanks * kBlocks * kBlock));
    struct Block {
      std::vector<std::byte> oracle = std::vector<std::byte>(kBlock);
      std::vector<std::byte> buffer = std::vector<std::byte>(kBlock);
      future pending;
      bool is_get = false;
      size_t start = 0;
      size_t bytes = 0;
    };
    std::vector<std::vector<Block>> places(kRanks, std::vector<Block>(kBlocks));
    std::mt19937_64 random(1000 + me);
    const auto settle = [](Block& block) {
      block.pending.wait();
      if (!block.is_get) return;
      block.is_get = false;
      ASSERT_EQ(std::memcmp(block.buffer.data(), block.oracle.data() + block.start, block.bytes),
                0);
    };
    for (int step = 0; step < 1500; ++step) {
      const auto target = static_cast<rank_t>(random() % kRanks);
      const size_t index = random() % kBlocks;
      Block& block = places[target][index];
      settle(block);
      block.start = random() % kBlock;
      block.bytes = random() % (kBlock - block.start + 1);
      if (random() % 4 != 0) block.bytes = std::min<size_t>(block.bytes, random() % 64);
      const auto place = context.on_rank(mine, target) +
                         static_cast<std::ptrdiff_t>((me * kBlocks + index) * kBlock + block.start);
      if (random() % 2 == 0) {
        for (size_t i = 0; i < block.bytes; ++i) {
          block.buffer[i] = static_cast<std::byte>(random());
        }
        std::copy_n(block.buffer.begin(), block.bytes,
                    block.oracle.begin() + static_cast<std::ptrdiff_t>(block.start));
        block.pending = context.rput(block.buffer.data(), place, block.bytes);
      } else {
        block.is_get = true;
        block.pending = context.rget(place, block.buffer.data(), block.bytes);
      }
      if (random() % 200 == 0) context.progress();
    }
    for (auto& place : places) {
      for (Block& block : place) settle(block);
    }
    context.barrier();
    for (rank_t target = 0; target < kRanks; ++target) {
      for (size_t index = 0; index < kBlocks; ++index) {
        Block& block = places[target][index];
        const auto place = context.on_rank(mine, target) +
                           static_cast<std::ptrdiff_t>((me * kBlocks + index) * kBlock);
        context.rget(place, block.buffer.data(), kBlock).wait();
        ASSERT_EQ(block.buffer, block.oracle) << "target " << target << " block " << index;
      }
    }
    context.barrier();
  });
}

TEST_P(OneSided, BytesReallyCrossTheFabricExceptWhereMemoryIsReached) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<double>(100));
    std::vector<double> buffer(100);
    const auto before = context.state().job.fabric().traffic();
    context.rget(context.on_rank(mine, 1 - context.rank_me()), buffer.data(), 100).wait();
    context.barrier();
    context.rput(buffer.data(), context.on_rank(mine, 1 - context.rank_me()), 50).wait();
    context.barrier();
    context.rget(mine, buffer.data(), 100).wait();
    const auto after = context.state().job.fabric().traffic();
    const bool mapped = GetParam().same_node == "mapped";
    EXPECT_EQ(context.is_local(1 - context.rank_me()), mapped);
    EXPECT_EQ(after.get_bytes - before.get_bytes, mapped ? 0U : 800U);
    EXPECT_EQ(after.put_bytes - before.put_bytes, mapped ? 0U : 400U);
    context.barrier();
  });
}

TEST(OneNode, TheKernelCopiesWhereItIsAskedTo) {
  bootstrap::ThreadGroupOptions options;
  options.ranks = 3;
  options.context.segment_bytes = size_t{8} << 20;
  options.context.same_node = "cma";
  bootstrap::on_ranks(options, [](Context& context) {
    constexpr size_t kCount = 100000;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(kCount));
    const rank_t next = (context.rank_me() + 1) % 3;
    EXPECT_FALSE(context.is_local(next));
    std::vector<uint64_t> values(kCount);
    for (size_t i = 0; i < kCount; ++i) values[i] = i * 3 + context.rank_me();
    const auto before = context.state().job.fabric().traffic();
    context.rput(values.data(), context.on_rank(mine, next), kCount).wait();
    context.rput_nbi(values.data(), context.on_rank(mine, next), kCount);
    context.barrier();
    std::vector<uint64_t> back(kCount);
    context.rget(context.on_rank(mine, next), back.data(), kCount).wait();
    EXPECT_EQ(back, values);
    const auto after = context.state().job.fabric().traffic();
    EXPECT_EQ(after.puts + after.gets, before.puts + before.gets);
    const rank_t previous = (context.rank_me() + 2) % 3;
    EXPECT_EQ(context.local(mine)[kCount - 1], (kCount - 1) * 3 + previous);
    context.barrier();
  });
}

TEST_P(OneSided, SymmetricArraysAgreeAndAreReused) {
  on_ranks(3, [](Context& context) {
    const auto first = context.new_symmetric_array<double>(1000);
    const auto second = context.new_symmetric_array<char>(3);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(context.broadcast(first->offset(), 0), first->offset());
    EXPECT_EQ(context.broadcast(second->offset(), 1), second->offset());
    EXPECT_EQ(first->where(), context.rank_me());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(context.local(*second)) % 64, 0U);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(context.local(*first)[i], 0.0);
    context.delete_symmetric_array(*first);
    ASSERT_OK_AND_ASSIGN(const auto third, context.new_symmetric_array<double>(900));
    EXPECT_EQ(third.offset(), first->offset());
    const auto huge = context.new_symmetric_array<double>(size_t{1} << 30);
    ASSERT_FALSE(huge.ok());
    EXPECT_EQ(huge.error().code(), ErrorCode::resource_exhausted);
    EXPECT_EQ(context.new_symmetric_array<double>(SIZE_MAX / 4).error().code(),
              ErrorCode::invalid_argument);
    context.barrier();  // still usable
  });
}

TEST_P(OneSided, AWaitWithoutTimeLooksOnce) {
  on_ranks(2, [](Context& context) {
    for (const double timeout_s : {0.0, -1.0, -std::numeric_limits<double>::infinity()}) {
      EXPECT_FALSE(context.wait_until([] { return false; }, timeout_s)) << timeout_s;
      EXPECT_TRUE(context.wait_until([] { return true; }, timeout_s)) << timeout_s;
    }
    context.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, OneSided, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

// --- misuse: the process ends with exit code 2 and a message that names rank, operation and offset

class MisuseDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(MisuseDeathTest, AccessBeyondTheSegment) {
  EXPECT_EXIT(on_ranks(1,
                       [](Context& context) {
                         double value = 0;
                         context.rget(global_ptr<double>(0, (8U << 20) - 4), &value, 1).wait();
                       }),
              ::testing::ExitedWithCode(2),
              "rank 0 on .*rget of 8 bytes at offset 8388604 of rank 0 is out of bounds");
  EXPECT_EXIT(on_ranks(1,
                       [](Context& context) {
                         const double value = 0;
                         context.rput(&value, global_ptr<double>(0, 0), SIZE_MAX / 8).wait();
                       }),
              ::testing::ExitedWithCode(2), "rput of .* is out of bounds");
}

TEST_F(MisuseDeathTest, AccessToARankThatDoesNotExist) {
  EXPECT_EXIT(on_ranks(1,
                       [](Context& context) {
                         const double value = 0;
                         context.rput(&value, global_ptr<double>(1, 0), 1).wait();
                       }),
              ::testing::ExitedWithCode(2), "of rank 1 is out of bounds: the job has ranks 0 to 0");
}

TEST_F(MisuseDeathTest, FreeingTwice) {
  EXPECT_EXIT(on_ranks(1,
                       [](Context& context) {
                         const auto array = context.new_symmetric_array<double>(8);
                         context.delete_symmetric_array(*array);
                         context.delete_symmetric_array(*array);
                       }),
              ::testing::ExitedWithCode(2), "no symmetric array starts at offset 0");
}

TEST_F(MisuseDeathTest, DifferentSizesOnDifferentRanks) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         [[maybe_unused]] const auto array =
                             context.new_symmetric_array<double>(8 + context.rank_me());
                         context.barrier();
                       }),
              ::testing::ExitedWithCode(2), "of 72 bytes, but rank 0 asks for 64");
}

}  // namespace
}  // namespace stripline
