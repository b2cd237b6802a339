#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/layout.h>

#include "runtime/array/testing/layouts_under_test.h"

namespace stripline::array {
namespace {

constexpr uint64_t kCount = 150;

TEST(Layout, PlacesAreThoseOfDealingOut) {
  for_each_distribution([](const auto& elements) {
    const std::vector<place> places = deal(kCount, elements.layout, elements.ranks.count());
    std::vector<uint64_t> before(elements.ranks.count());
    for (uint64_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(elements.locate(i), places[i]) << i;
      ASSERT_EQ(elements.affinity(i), places[i].rank);
      ASSERT_EQ(elements.index_of(places[i]), i);
      for (rank_t rank = 0; rank < elements.ranks.count(); ++rank) {
        ASSERT_EQ(elements.count_below(i, rank), before[rank]) << i << " on " << rank;
      }
      ++before[places[i].rank];
    }
  });
}

TEST(Layout, BlockedHasOneBlockPerRank) {
  for (const uint64_t count : {0U, 1U, 2U, 3U, 7U, 8U, 9U, 100U}) {
    for (const rank_t ranks : {1U, 2U, 3U, 8U}) {
      const block_cyclic<> layout = blocked(count, ranks);
      EXPECT_GE(layout.block(), 1U);
      EXPECT_GE(layout.block() * ranks, count);
      if (count > 0) {
        EXPECT_LT((layout.block() - 1) * ranks, count) << "too large";
        const distribution<block_cyclic<>> elements{layout, {ranks}};
        EXPECT_EQ(elements.locate(count - 1).index, (count - 1) % layout.block());
      }
    }
  }
  EXPECT_EQ(blocked(std::numeric_limits<uint64_t>::max(), 2).block(), uint64_t{1} << 63);
}

TEST(Layout, HugeIndicesAndBlocks) {
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  const distribution<cyclic> by_one{{}, {kMaxRanks - 1}};
  EXPECT_EQ(by_one.locate(most),
            (place{static_cast<rank_t>(most % (kMaxRanks - 1)), most / (kMaxRanks - 1)}));
  const uint64_t block = uint64_t{1} << 61;
  const distribution<block_cyclic<>> few{{block}, {3}};
  EXPECT_EQ(few.locate(most), (place{1, 2 * block + block - 1}));  // the last of block 7
  EXPECT_EQ(few.count_below(most, 0), 3 * block);
  EXPECT_EQ(few.count_below(most, 1), 3 * block - 1);
  EXPECT_EQ(few.count_below(most, 2), 2 * block);
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t index = random();
    const distribution<block_cyclic<>> any{{1 + random() % block},
                                           {1 + static_cast<rank_t>(random() % kMaxRanks)}};
    const place at = any.locate(index);
    EXPECT_EQ(any.index_of(at), index);
    EXPECT_EQ(any.count_below(index, at.rank), at.index);
  }
}

TEST(FloorDivide, RoundsDownForEverySign) {
  for (int64_t value = -40; value <= 40; ++value) {
    for (const int64_t divisor : {1, 2, 3, 8, 13}) {
      int64_t quotient = 0;
      while (quotient * divisor > value) --quotient;
      while ((quotient + 1) * divisor <= value) ++quotient;
      const auto check = [&](const detail::Floored& got) {
        EXPECT_EQ(got.quotient, quotient) << value << " / " << divisor;
        EXPECT_EQ(got.remainder, static_cast<uint64_t>(value - quotient * divisor));
      };
      check(detail::floor_divide<0>(value, static_cast<uint64_t>(divisor)));
      if (divisor == 1) check(detail::floor_divide<1>(value, 1));
      if (divisor == 8) check(detail::floor_divide<8>(value, 8));
      if (divisor == 13) check(detail::floor_divide<13>(value, 13));
    }
  }
}

}  // namespace
}  // namespace stripline::array
