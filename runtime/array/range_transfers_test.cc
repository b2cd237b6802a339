#include "runtime/array/range_transfers.h"

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/array/testing/layouts_under_test.h"

namespace stripline::array {
namespace {

using detail::ArrayShape;

constexpr TransferConfig kNeverDirect{.direct_block_bytes = uint64_t{1} << 60};

// Moves indices instead of elements, and compares with dealing out.
void check_plan(const ArrayShape& shape, rank_t ranks, uint64_t first, uint64_t count,
                const TransferConfig& config) {
  SCOPED_TRACE(std::to_string(ranks) + " ranks, blocks of " + std::to_string(shape.block) + ", " +
               std::to_string(count) + " from " + std::to_string(first));
  const auto places = shape.indefinite != 0 ? deal(first + count, indefinite{shape.owner}, ranks)
                                            : deal(first + count, shape.block, ranks);
  std::vector<std::vector<uint64_t>> memory(ranks, std::vector<uint64_t>(first + count, ~0ULL));
  std::set<rank_t> with_elements;
  for (uint64_t i = 0; i < first + count; ++i) {
    memory[places[i].rank][places[i].index] = i;
    if (i >= first) with_elements.insert(places[i].rank);
  }
  const TransferPlan plan = plan_transfers(shape, ranks, first, count, config);
  if (plan.buffered || config.direct_block_bytes == kNeverDirect.direct_block_bytes) {
    EXPECT_EQ(plan.transfers.size(), with_elements.size()) << "not the fewest";
  }
  std::vector<uint64_t> result(count, ~0ULL);
  for (const Transfer& one : plan.transfers) {
    for (uint64_t k = 0; k < one.count; ++k) {
      ASSERT_LT(one.position + k, count);
      ASSERT_EQ(result[one.position + k], ~0ULL) << "moved twice";
      result[one.position + k] = memory[one.rank][one.index + k];
    }
  }
  uint64_t previous = first;
  for (uint64_t k = 0; k < count; ++k) {
    if (!plan.buffered) {
      ASSERT_EQ(result[k], first + k);
    } else if (k > 0 && places[result[k]].rank == places[result[k - 1]].rank) {
      ASSERT_GT(result[k], previous) << "not in the order of the array";
    }
    previous = result[k];
  }
  std::vector<uint64_t> sorted = result;
  std::sort(sorted.begin(), sorted.end());
  for (uint64_t k = 0; k < count; ++k) ASSERT_EQ(sorted[k], first + k);
}

TEST(PlanTransfers, EveryRangeOnceAndInAsFewTransfersAsPossible) {
  std::mt19937_64 random(7);
  for (const rank_t ranks : {1U, 2U, 3U, 5U}) {
    for (const uint64_t block : {1U, 2U, 3U, 8U, 50U, 1000U}) {
      const ArrayShape shape{.elements = 400, .element_bytes = 8, .block = block};
      for (int repeat = 0; repeat < 20; ++repeat) {
        const uint64_t first = random() % 300;
        const uint64_t count = repeat == 0 ? 0 : random() % 100;
        check_plan(shape, ranks, first, count, kNeverDirect);
        check_plan(shape, ranks, first, count, {.direct_block_bytes = 64});
      }
    }
    const ArrayShape shape{
        .elements = 400, .element_bytes = 8, .owner = ranks - 1, .indefinite = 1};
    check_plan(shape, ranks, 10, 77, {});
    check_plan(shape, ranks, 0, 0, {});
  }
}

TEST(PlanTransfers, LargeBlocksAreNotCopied) {
  const ArrayShape shape{.elements = 1 << 20, .element_bytes = 8, .block = 2048};
  const TransferPlan large = plan_transfers(shape, 2, 100, 20000);
  EXPECT_FALSE(large.buffered);
  EXPECT_EQ(large.transfers.size(), 10U);
  const ArrayShape smaller{.elements = 1 << 20, .element_bytes = 8, .block = 2047};
  EXPECT_TRUE(plan_transfers(smaller, 2, 100, 20000).buffered);
  EXPECT_EQ(plan_transfers(smaller, 2, 100, 20000).transfers.size(), 2U);
}

}  // namespace
}  // namespace stripline::array
