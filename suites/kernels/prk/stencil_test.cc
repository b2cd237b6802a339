// PRK stencil over plain memory: right for every division of the grid, and refused if a ghost is.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "suites/kernels/nas/testing/team.h"
#include "suites/kernels/prk/stencil_solver.h"

namespace stripline::suites::prk {
namespace {

// Copies the neighbours' points; `spoils` may change what has come.
class CopiedGhosts {
 public:
  using Spoils = std::function<void(StencilShare&, size_t step)>;
  CopiedGhosts(nas::TestTeam<double>& team, Spoils spoils)
      : team_(team), spoils_(std::move(spoils)) {}

  void ghosts(StencilShare& share) {
    nas::in_pieces(0, share.interior_rows(), 3,
                   [&](size_t begin, size_t end) { share.compute_interior(begin, end); });
    team_.barrier();
    const StencilPartition& partition = share.partition();
    for (const StencilSide side : kStencilSides) {
      const auto face = partition.face(share.me(), side);
      if (!face) continue;
      for (size_t row = 0; row < face->rows; ++row) {
        std::copy_n(share.shared().data() + face->source + row * partition.pitch(), face->columns,
                    team_.shared(face->neighbour).data() + face->ghosts + row * partition.pitch());
      }
    }
    team_.barrier();
    if (spoils_) spoils_(share, step_);
    ++step_;
  }
  void used(StencilShare&) { team_.barrier(); }
  double sum(StencilShare& share, double value) { return team_.sum(share.me(), value); }

 private:
  nas::TestTeam<double>& team_;
  Spoils spoils_;
  size_t step_ = 0;
};

struct Case {
  size_t n;
  size_t radius;
  uint32_t ranks;
  uint32_t ranks_x;
};

constexpr uint64_t kSalt = 7;

// How many ranks accept the result, if `spoils` is the middle one's.
size_t verified(const Case& one, size_t iterations, const CopiedGhosts::Spoils& spoils = {}) {
  const auto partition =
      StencilPartition::create(one.n, one.radius, one.ranks, one.ranks_x).value();
  nas::TestTeam<double> team(one.ranks, partition.shared_elements());
  std::atomic<size_t> accepted = 0;
  nas::run_as_ranks(one.ranks, [&](uint32_t rank) {
    StencilShare share(partition, rank, team.shared(rank));
    CopiedGhosts exchange(team, rank == one.ranks / 2 ? spoils : CopiedGhosts::Spoils());
    share.start(kSalt);
    team.barrier();
    for (size_t i = 0; i < iterations; ++i) iterate_stencil(share, exchange);
    if (verify_stencil(share, exchange, iterations)) ++accepted;
  });
  return accepted;
}

TEST(PrkStencil, VerifiesForEveryGridOfRanks) {
  for (const Case& one :
       {Case{9, 2, 1, 0}, Case{20, 1, 2, 0}, Case{20, 2, 2, 2}, Case{31, 3, 4, 0},
        Case{29, 2, 6, 3}, Case{29, 2, 6, 0}, Case{23, 3, 3, 3}, Case{26, 2, 9, 0}}) {
    SCOPED_TRACE(testing::Message() << one.n << " " << one.radius << " " << one.ranks);
    EXPECT_EQ(verified(one, 3), one.ranks);
  }
}

// The points are random, so that each weight counts.
TEST(PrkStencil, ComputesTheStarStencil) {
  constexpr size_t kN = 17;
  constexpr size_t kRadius = 3;
  const auto partition = StencilPartition::create(kN, kRadius, 1, 0).value();
  std::vector<double> memory(partition.shared_elements());
  StencilShare share(partition, 0, memory);
  share.start(0);
  std::mt19937 random(1);
  std::vector<double> in(kN * kN);
  for (size_t row = 0; row < kN; ++row) {
    for (size_t column = 0; column < kN; ++column) {
      in[row * kN + column] = static_cast<double>(random() % 1000);
      memory[partition.at(column, row)] = in[row * kN + column];
    }
  }
  share.compute_interior(0, 5);
  share.compute_interior(5, share.interior_rows());
  share.compute_boundary();
  for (size_t row = 0; row < kN; ++row) {
    for (size_t column = 0; column < kN; ++column) {
      double expected = 0;
      const bool inside =
          row >= kRadius && row < kN - kRadius && column >= kRadius && column < kN - kRadius;
      for (size_t d = 1; inside && d <= kRadius; ++d) {
        const size_t at = row * kN + column;
        const double weight = 1.0 / static_cast<double>(2 * d * kRadius);
        expected += weight * in[at + d] - weight * in[at - d];
        expected += weight * in[at + d * kN] - weight * in[at - d * kN];
      }
      EXPECT_NEAR(share.result()[row * kN + column], expected, 1e-9) << row << " " << column;
    }
  }
}

// Every ghost of the block in the middle, late by an iteration or never there: the norm is wrong,
// or no number, on all ranks.
TEST(PrkStencil, EveryGhostCounts) {
  const Case one{13, 1, 9, 3};
  const auto partition = StencilPartition::create(one.n, one.radius, one.ranks, one.ranks_x);
  const uint32_t middle = one.ranks / 2;
  for (const StencilSide side : kStencilSides) {
    const auto leaves = partition->face(middle, side);
    ASSERT_TRUE(leaves);
    const auto comes = partition->face(leaves->neighbour, opposite(side));
    for (size_t row = 0; row < comes->rows; ++row) {
      for (size_t column = 0; column < comes->columns; ++column) {
        const size_t at = comes->ghosts + row * partition->pitch() + column;
        const auto late = [at](StencilShare& share, size_t step) {
          if (step == 1) share.shared()[at] -= 1;
        };
        EXPECT_EQ(verified(one, 2, late), 0u);
        const auto absent = [at](StencilShare& share, size_t step) {
          if (step == 0) share.shared()[at] = std::nan("");
        };
        EXPECT_EQ(verified(one, 2, absent), 0u);
      }
    }
  }
}

// All ghosts of a rank in the middle late by an iteration: the mean of all results is right.
TEST(PrkStencil, GhostsThatAreAllLateAreSeenThoughTheMeanIsRight) {
  const auto partition = StencilPartition::create(12, 1, 3, 3).value();
  nas::TestTeam<double> team(3, partition.shared_elements());
  nas::run_as_ranks(3, [&](uint32_t rank) {
    StencilShare share(partition, rank, team.shared(rank));
    CopiedGhosts exchange(team, [&](StencilShare& spoilt, size_t step) {
      if (spoilt.me() != 1 || step != 1) return;
      for (size_t row = 0; row < partition.rows(1); ++row) {
        spoilt.shared()[partition.at(0, row) - 1] -= 1;
        spoilt.shared()[partition.at(partition.columns(1), row)] -= 1;
      }
    });
    share.start(kSalt);
    team.barrier();
    for (size_t i = 0; i < 2; ++i) iterate_stencil(share, exchange);
    const double norm = exchange.sum(share, share.sums(2).sum) / 100;
    EXPECT_NEAR(norm, 4, 1e-12);
    EXPECT_EQ(verify_stencil(share, exchange, 2), rank != 1);
  });
}

TEST(PrkStencil, RefusesGridsThatDoNotFit) {
  EXPECT_EQ(StencilPartition::create(64, 2, 6, 4).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(StencilPartition::create(16, 4, 4, 0).error().code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(StencilPartition::create(18, 4, 4, 0).ok());
  EXPECT_EQ(StencilPartition::create(64, 2, 12, 0)->ranks_x(), 3u);
  EXPECT_EQ(StencilPartition::create(64, 2, 7, 0)->ranks_x(), 1u);
}

}  // namespace
}  // namespace stripline::suites::prk
