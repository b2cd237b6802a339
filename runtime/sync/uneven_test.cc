// Scatter, reduce_scatter, and collectives with blocks of any length, against what every rank can
// compute for itself.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/team.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

constexpr uint32_t kUntouched = 0xdeadbeef;

uint32_t element(rank_t rank, size_t i, uint64_t round) {
  return static_cast<uint32_t>((i + 1) * 2654435761U + rank * uint64_t{40503} + round * 97);
}

// Blocks of these lengths with gaps between them, the last rank's first.
struct Pieces {
  std::vector<size_t> counts;
  std::vector<size_t> offsets;
  size_t total = 0;

  Pieces(rank_t ranks, size_t scale, uint64_t round) : counts(ranks), offsets(ranks) {
    for (rank_t rank = ranks; rank-- > 0;) {
      counts[rank] = (rank + round) % 3 == 0 ? 0 : (size_t{rank} * 7 + round) % 5 * scale + rank;
      offsets[rank] = total + rank % 2;
      total = offsets[rank] + counts[rank];
    }
  }
  // True if element i belongs to no block.
  bool is_gap(size_t i) const {
    for (size_t rank = 0; rank < counts.size(); ++rank) {
      if (i >= offsets[rank] && i < offsets[rank] + counts[rank]) return false;
    }
    return true;
  }
};

// Starting real ranks takes longer than what they do.
std::vector<rank_t> numbers_of_ranks(const bootstrap::FabricUnderTest& fabric) {
  if (fabric.clock == "virtual") return {1, 2, 3, 4, 5, 6, 7, 8, 9};
  return {1, 3, 4, 6};
}

class Uneven : public bootstrap::RanksTest {};

void check_pieces(const team& on, size_t scale, uint64_t round) {
  const rank_t me = on.rank_me();
  const rank_t n = on.rank_n();
  const auto root = static_cast<rank_t>(round % n);
  const Pieces pieces(n, scale, round);
  std::vector<uint32_t> mine(pieces.counts[me]);
  for (size_t i = 0; i < mine.size(); ++i) mine[i] = element(me, i, round);
  const auto complete = [&](std::span<const uint32_t> all) {
    for (rank_t rank = 0; rank < n; ++rank) {
      for (size_t i = 0; i < pieces.counts[rank]; ++i) {
        if (all[pieces.offsets[rank] + i] != element(rank, i, round)) return false;
      }
    }
    for (size_t i = 0; i < all.size(); ++i) {
      if (pieces.is_gap(i) && all[i] != kUntouched) return false;
    }
    return true;
  };
  const bool is_root = me == root;
  std::vector<uint32_t> all(is_root ? pieces.total : 0, kUntouched);
  on.gather_v(mine, all, is_root ? std::span<const size_t>(pieces.counts) : std::span<size_t>(),
              is_root ? std::span<const size_t>(pieces.offsets) : std::span<size_t>(), root);
  if (is_root) {
    EXPECT_TRUE(complete(all));
  }
  std::vector<uint32_t> back(mine.size(), kUntouched);
  on.scatter_v(all, pieces.counts, pieces.offsets, back, root);
  EXPECT_EQ(back, mine);
  for (const auto algorithm : {collective_algorithm::automatic, collective_algorithm::ring,
                               collective_algorithm::direct}) {
    std::vector<uint32_t> everywhere(pieces.total, kUntouched);
    on.allgather_v(mine, everywhere, pieces.counts, pieces.offsets, algorithm);
    EXPECT_TRUE(complete(everywhere));
  }
}

void check_blocks(const team& on, size_t count, uint64_t round) {
  const rank_t me = on.rank_me();
  const rank_t n = on.rank_n();
  const auto root = static_cast<rank_t>(round % n);
  std::vector<uint32_t> in(count * n);
  for (const auto algorithm : {collective_algorithm::automatic, collective_algorithm::binomial,
                               collective_algorithm::direct}) {
    for (size_t i = 0; i < in.size(); ++i) in[i] = element(root, i, round);
    std::vector<uint32_t> out(count, kUntouched);
    on.scatter(me == root ? std::span<const uint32_t>(in) : std::span<const uint32_t>(), out, root,
               algorithm);
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], element(root, me * count + i, round));
  }
  for (const auto algorithm : {collective_algorithm::automatic, collective_algorithm::ring,
                               collective_algorithm::direct}) {
    for (size_t i = 0; i < in.size(); ++i) in[i] = element(me, i, round);
    std::vector<uint32_t> out(count, kUntouched);
    // Every other time over its own block.
    const std::span<uint32_t> to =
        round % 2 == 0 ? std::span(out) : std::span(in).subspan(me * count, count);
    on.reduce_scatter(in, to, op_add{}, algorithm);
    for (size_t i = 0; i < count; ++i) {
      uint32_t sum = 0;
      for (rank_t rank = 0; rank < n; ++rank) sum += element(rank, me * count + i, round);
      ASSERT_EQ(to[i], sum) << n << " ranks, " << count << " elements";
    }
  }
}

TEST_P(Uneven, AgreesWithWhatIsExpected) {
  for (const rank_t ranks : numbers_of_ranks(GetParam())) {
    on_ranks(ranks, [](Context& context) {
      const team all = team::world(context);
      uint64_t round = 0;
      for (const size_t size : {size_t{0}, size_t{1}, size_t{37}, size_t{3001}}) {
        for (int repeat = 0; repeat < 2; ++repeat) {
          check_pieces(all, size, round);
          check_blocks(all, size, round);
          ++round;
        }
      }
      // Messages that wait for their receives.
      if (all.rank_n() == 3 || all.rank_n() == 4) {
        check_pieces(all, 20011, round);
        check_blocks(all, 40009, round);
      }
      const team half = all.split(all.rank_me() % 2, -int64_t{all.rank_me()});
      check_pieces(half, 11, 5);
      check_blocks(half, 11, 5);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Uneven, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class UnevenDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(UnevenDeathTest, MistakesAreNamed) {
  const std::vector<size_t> counts = {2, 2};
  const std::vector<size_t> offsets = {0, 2};
  EXPECT_EXIT(on_ranks(2,
                       [&](Context& context) {
                         const std::vector<int> in(3);
                         std::vector<int> out(4);
                         team::world(context).allgather_v(in, out, counts, offsets);
                       }),
              ::testing::ExitedWithCode(2),
              "allgather_v: this rank's part has 3 elements, where its count says 2");
  EXPECT_EXIT(on_ranks(2,
                       [&](Context& context) {
                         const std::vector<int> in(2);
                         std::vector<int> out(3);
                         team::world(context).gather_v(in, out, counts, offsets, 1);
                       }),
              ::testing::ExitedWithCode(2),
              "gather_v: counts and offsets of the output do not name 2 blocks");
  EXPECT_EXIT(on_ranks(2,
                       [&](Context& context) {
                         const std::vector<int> in(2);
                         std::vector<int> out(4);
                         const std::span nothing(static_cast<const size_t*>(nullptr), 2);
                         team::world(context).allgather_v(in, out, nothing, offsets);
                       }),
              ::testing::ExitedWithCode(2),
              "allgather_v: counts and offsets of the output do not name 2 blocks");
  EXPECT_EXIT(on_ranks(2,
                       [&](Context& context) {
                         const std::vector<int> in(4);
                         std::vector<int> out(2);
                         team::world(context).scatter(in, out, 0, collective_algorithm::ring);
                       }),
              ::testing::ExitedWithCode(2),
              "scatter has no algorithm 'ring'; it has direct, binomial");
  // One that others expect to be longer.
  EXPECT_EXIT(on_ranks(2,
                       [&](Context& context) {
                         const team all = team::world(context);
                         const std::vector<int> in(all.rank_me() == 0 ? 4 : 6);
                         std::vector<int> out(in.size() / 2);
                         all.reduce_scatter(in, out, op_add{});
                       }),
              ::testing::ExitedWithCode(2),
              "reduce_scatter of (different lengths|8 bytes, .* of 12 bytes)");
}

}  // namespace
}  // namespace stripline
