// Random operations of all kinds in flight together, against what each place must hold.
//
// STRIPLINE_TEST_MIXED_OPERATIONS (per rank, default 3000) and STRIPLINE_TEST_MIXED_SEEDS (default
// 1) make it long; scripts/check.sh mixed does.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/vis.h>

#include "base/testing/test_size.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/fabric/ofi/ofi_fabric.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::every_fabric;
using bootstrap::group_on;

constexpr rank_t kRanks = 4;
constexpr size_t kBlock = 5000;
constexpr size_t kBlocks = 10;
constexpr size_t kCounters = 8;
constexpr uint64_t kPrime = 1000003;

/// One block of this rank's part of somebody's segment.
struct Block {
  std::vector<std::byte> oracle = std::vector<std::byte>(kBlock);
  std::vector<std::byte> buffer = std::vector<std::byte>(kBlock);
  rank_t target = 0;
  future pending;
  bool implicit = false;  ///< in flight without a handle
  bool is_get = false;
  size_t start = 0;
  size_t bytes = 0;
};

/// What all ranks have done to the counters, as one rank knows it.
struct Totals {
  std::array<std::array<uint64_t, kCounters>, kRanks> added{};  // [target][counter]
  std::array<std::array<uint64_t, kCounters>, kRanks> xored{};
  std::array<uint64_t, kRanks> sent{};  ///< sum of what active messages carried
};

class Mix {
 public:
  Mix(Context& context, uint64_t seed, AtomicPath path)
      : context_(context), domain_(context, path), random_(seed * 100 + context.rank_me()) {}

  void run(uint64_t operations) {
    const auto bytes = context_.new_symmetric_array<std::byte>(kRanks * kBlocks * kBlock);
    const auto counters = context_.new_symmetric_array<uint64_t>(2 * kCounters);
    ASSERT_TRUE(bytes.ok() && counters.ok());
    bytes_ = *bytes;
    counters_ = *counters;
    std::memset(context_.local(bytes_), 0, kRanks * kBlocks * kBlock);
    std::memset(context_.local(counters_), 0, 2 * kCounters * sizeof(uint64_t));
    const uint32_t forward = context_.register_am(
        [this](rank_t, std::span<const std::byte> load) { received_ += value_of(load); });
    const uint32_t bounce =
        context_.register_am([this, forward](rank_t source, std::span<const std::byte> load) {
          received_ += value_of(load);
          context_.am_send(source, forward, load);
        });
    blocks_.resize(kRanks * kBlocks);
    context_.barrier();

    for (uint64_t step = 0; step < operations && !::testing::Test::HasFatalFailure(); ++step) {
      switch (random_() % 16) {
        case 0:
          send(forward, bounce);
          break;
        case 1:
        case 2:
        case 3:
          count();
          break;
        case 4:
          if (random_() % 8 == 0) context_.progress();
          break;
        default:
          transfer();
      }
      if (step % 500 == 499) context_.barrier();
    }
    for (Block& block : blocks_) settle(block);
    context_.barrier();
    check_blocks();
    check_counters();
    check_messages();
    context_.delete_symmetric_array(counters_);
    context_.delete_symmetric_array(bytes_);
  }

 private:
  static uint64_t value_of(std::span<const std::byte> load) {
    uint64_t value = 0;
    std::memcpy(&value, load.data(), sizeof value);
    return value;
  }

  global_ptr<std::byte> place(const Block& block) {
    const auto index = static_cast<size_t>(&block - blocks_.data()) % kBlocks;
    return context_.on_rank(bytes_, block.target) +
           static_cast<std::ptrdiff_t>((context_.rank_me() * kBlocks + index) * kBlock);
  }

  // Completes what is in flight on a block, and looks at what a get brought.
  void settle(Block& block) {
    if (block.implicit) context_.fence(block.target);
    block.implicit = false;
    block.pending.wait();
    if (!block.is_get) return;
    block.is_get = false;
    ASSERT_EQ(std::memcmp(block.buffer.data(), block.oracle.data() + block.start, block.bytes), 0);
  }

  void transfer() {
    const size_t index = random_() % blocks_.size();
    Block& block = blocks_[index];
    settle(block);
    block.target = static_cast<rank_t>(index / kBlocks);
    block.start = random_() % kBlock;
    block.bytes = random_() % (kBlock - block.start + 1);
    if (random_() % 4 != 0) block.bytes = std::min<size_t>(block.bytes, random_() % 80);
    block.implicit = random_() % 2 == 0;
    block.is_get = random_() % 2 == 0;
    const auto there = place(block) + static_cast<std::ptrdiff_t>(block.start);
    if (random_() % 4 == 0) {
      transfer_rows(block, there);
      return;
    }
    if (block.is_get) {
      if (block.implicit) {
        context_.rget_nbi(there, block.buffer.data(), block.bytes);
      } else {
        block.pending = context_.rget(there, block.buffer.data(), block.bytes);
      }
      return;
    }
    for (size_t i = 0; i < block.bytes; ++i) {
      block.buffer[i] = static_cast<std::byte>(random_());
      block.oracle[block.start + i] = block.buffer[i];
    }
    if (block.implicit) {
      context_.rput_nbi(block.buffer.data(), there, block.bytes);
    } else {
      block.pending = context_.rput(block.buffer.data(), there, block.bytes);
    }
  }

  // The same as rows of up to 100 bytes, from the last one to the first one. What is fetched or
  // stored of the part that they do not fill stays as it is.
  void transfer_rows(Block& block, global_ptr<std::byte> there) {
    const size_t row = 1 + random_() % 100;
    const size_t gap = random_() % 2 == 0 ? 0 : random_() % 40;
    const size_t rows = block.bytes / (row + gap);
    const auto stride = static_cast<std::ptrdiff_t>(row + gap);
    block.implicit = false;
    if (rows == 0) {
      block.is_get = false;
      return;
    }
    VisOptions options;
    options.method = static_cast<VisMethod>(random_() % 5);
    options.bounding_box = true;
    options.window = static_cast<uint32_t>(random_() % 5);
    options.chunk_bytes = random_() % 2000;
    const std::array<std::ptrdiff_t, 2> strides{-stride, 1};
    const std::array<size_t, 2> extents{rows, row};
    const auto last = static_cast<std::ptrdiff_t>((rows - 1) * (row + gap));
    if (block.is_get) {
      std::copy_n(block.oracle.begin() + static_cast<std::ptrdiff_t>(block.start), block.bytes,
                  block.buffer.begin());
      for (size_t i = 0; i < rows * (row + gap); ++i) {
        if (i % (row + gap) < row) block.buffer[i] = std::byte{0xEE};
      }
      block.pending = rget_strided(context_, there + last, strides, block.buffer.data() + last,
                                   strides, extents, options);
      return;
    }
    for (size_t i = 0; i < block.bytes; ++i) {
      block.buffer[i] = static_cast<std::byte>(random_());
      if (i < rows * (row + gap) && i % (row + gap) < row) {
        block.oracle[block.start + i] = block.buffer[i];
      }
    }
    block.pending = rput_strided(context_, block.buffer.data() + last, strides, there + last,
                                 strides, extents, options);
  }

  // The first half of the counters is added to, the second one xored.
  void count() {
    const auto target = static_cast<rank_t>(random_() % kRanks);
    const size_t counter = random_() % kCounters;
    const uint64_t operand = random_() % kPrime;
    const auto there = context_.on_rank(counters_, target) + static_cast<std::ptrdiff_t>(counter);
    switch (random_() % 3) {
      case 0:
        domain_.add(there, operand);
        totals_.added[target][counter] += operand;
        break;
      case 1: {
        const uint64_t before = domain_.fetch_add(there, operand);
        totals_.added[target][counter] += operand;
        // Only this rank's own share is known for certain.
        ASSERT_GE(before + operand, totals_.added[target][counter]);
        break;
      }
      default:
        domain_.bit_xor(there + kCounters, operand);
        totals_.xored[target][counter] ^= operand;
    }
  }

  void send(uint32_t forward, uint32_t bounce) {
    const auto target = static_cast<rank_t>(random_() % kRanks);
    std::vector<std::byte> load(8 + random_() % (context_.am_max_bytes() - 8));
    const uint64_t value = random_() % kPrime;
    std::memcpy(load.data(), &value, sizeof value);
    const bool returns = random_() % 2 == 0;
    context_.am_send(target, returns ? bounce : forward, load);
    totals_.sent[target] += value;
    if (returns) totals_.sent[context_.rank_me()] += value;
  }

  void check_blocks() {
    for (size_t index = 0; index < blocks_.size(); ++index) {
      Block& block = blocks_[index];
      block.target = static_cast<rank_t>(index / kBlocks);
      context_.rget(place(block), block.buffer.data(), kBlock).wait();
      ASSERT_EQ(block.buffer, block.oracle) << "block " << index;
    }
    context_.barrier();
  }

  void check_counters() {
    for (rank_t target = 0; target < kRanks; ++target) {
      for (size_t counter = 0; counter < kCounters; ++counter) {
        const uint64_t added =
            context_.reduce_all(totals_.added[target][counter], Context::ReduceOp::sum);
        // No xor among the reductions: bit by bit, by parity. Operands are below 2^20.
        uint64_t xored = 0;
        for (unsigned bit = 0; bit < 20; ++bit) {
          const uint64_t mine = totals_.xored[target][counter] >> bit & 1;
          xored |= (context_.reduce_all(mine, Context::ReduceOp::sum) & 1) << bit;
        }
        if (target != context_.rank_me()) continue;
        EXPECT_EQ(context_.local(counters_)[counter], added) << counter;
        EXPECT_EQ(context_.local(counters_)[kCounters + counter], xored) << counter;
      }
    }
  }

  // A message is not acknowledged: each rank waits until it has what was sent to it.
  void check_messages() {
    uint64_t expected = 0;
    for (rank_t target = 0; target < kRanks; ++target) {
      const uint64_t sent = context_.reduce_all(totals_.sent[target], Context::ReduceOp::sum);
      if (target == context_.rank_me()) expected = sent;
    }
    EXPECT_TRUE(context_.wait_until([&] { return received_ == expected; }, 60));
    context_.barrier();
  }

  Context& context_;
  atomic_domain<uint64_t> domain_;
  std::mt19937_64 random_;
  global_ptr<std::byte> bytes_;
  global_ptr<uint64_t> counters_;
  std::vector<Block> blocks_;
  Totals totals_;
  uint64_t received_ = 0;
};

class Mixed : public ::testing::TestWithParam<bootstrap::FabricUnderTest> {};

// From 2.0 on libfabric has no provider net (tcp is what it was), and its shm does not always know
// where it has mapped the memory of an endpoint of the same process (smr_map_to_region() in 2.6),
// which ranks that are threads have and ranks of a job have not.
bool serves_threads(const std::string& fabric) {
  const auto version = fabric::ofi_version();
  return (fabric != "net" && fabric != "shm") || (version.ok() && version->starts_with("1."));
}

TEST_P(Mixed, EverythingTogetherAgreesWithAnOracle) {
  if (!serves_threads(GetParam().fabric)) GTEST_SKIP() << "not with this libfabric";
  const uint64_t operations = test_size("STRIPLINE_TEST_MIXED_OPERATIONS", 3000);
  const uint64_t seeds = test_size("STRIPLINE_TEST_MIXED_SEEDS", 1);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const AtomicPath path : {AtomicPath::provider, AtomicPath::message}) {
      bootstrap::on_ranks(group_on(GetParam(), kRanks), [&](Context& context) {
        const bool has_own = context.state().job.fabric().has_atomic(
            fabric::AtomicOp::add, fabric::AtomicType::uint64, true);
        Mix(context, seed, has_own ? path : AtomicPath::message).run(operations / 2);
        context.barrier();
      });
      ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Mixed, ::testing::ValuesIn(every_fabric()),
                         bootstrap::FabricLabel());

// While threads of the runtime serve as well.
INSTANTIATE_TEST_SUITE_P(
    WithProgressThreads, Mixed,
    ::testing::Values(bootstrap::FabricUnderTest{"tcp", "tcp", "real", "network", "thread"},
                      bootstrap::FabricUnderTest{"mapped", "tcp", "real", "mapped", "thread"}),
    bootstrap::FabricLabel());

}  // namespace
}  // namespace stripline
