// CG gives the reference values on every grid of ranks, whatever the pieces it is computed in, and
// does not when one element of what is exchanged is wrong.
#include <algorithm>
#include <atomic>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "suites/kernels/nas/cg_solver.h"
#include "suites/kernels/nas/testing/team.h"

namespace stripline::suites::nas {
namespace {

enum class Fault { none, wrong_sum, stale_sum, displaced_product };

// Reads the partners' sums where they lie.
class PlainExchange {
 public:
  PlainExchange(TestTeam<double>& team, size_t piece, Fault fault = Fault::none)
      : team_(&team), piece_(piece), fault_(fault) {}

  void sum_rows(CgShare& share) {
    ++products_;
    in_pieces(0, share.rows(), piece_, [&](size_t b, size_t e) { share.multiply(b, e); });
    const CgPartition& partition = share.partition();
    for (size_t stage = 0; stage < partition.stages(); ++stage) {
      team_->barrier();
      const double* const theirs = team_->shared(partition.sum_partner(share.me(), stage)).data() +
                                   partition.sums_offset(stage);
      // What the partner had in the product before, one piece of it.
      const bool stale = fault_ == Fault::stale_sum && stage == 0 && products_ == 40;
      in_pieces(0, share.rows(), piece_, [&](size_t b, size_t e) {
        share.add(stage, b, e, stale && b == 0 ? stale_.data() : theirs + b);
      });
      if (fault_ == Fault::stale_sum && stage == 0) stale_.assign(theirs, theirs + share.rows());
    }
    if (fault_ == Fault::wrong_sum && share.me() == 0 && products_ == 40) {
      share.sums(partition.stages())[share.rows() / 3] *= 1 + 1e-3;
    }
    team_->barrier();
  }

  void transpose(CgShare& share) {
    const CgPartition& partition = share.partition();
    const uint32_t partner = partition.transpose_partner(share.me());
    size_t source = share.transpose_source();
    if (fault_ == Fault::displaced_product && products_ == 40 && share.me() == 0) source += 1;
    std::copy_n(team_->shared(partner).data() + partition.sums_offset(partition.stages()) + source,
                share.cols(), share.product().data());
    team_->barrier();
  }

  double sum_row(CgShare& share, double value) {
    const CgPartition& partition = share.partition();
    return team_->reduce(share.me(), value, partition.rank_at(partition.row_of(share.me()), 0), 1,
                         partition.grid_cols(), std::plus<double>());
  }

 protected:
  TestTeam<double>* team_;
  size_t piece_;

 private:
  Fault fault_;
  size_t products_ = 0;
  std::vector<double> stale_;
};

// How many elements of its sums each rank has made, by stage, in all products together.
using Progress = std::vector<std::vector<std::atomic<size_t>>>;

// Sends each piece through all stages before the next one is multiplied.
class FlowingExchange : public PlainExchange {
 public:
  FlowingExchange(TestTeam<double>& team, Progress& progress, size_t piece)
      : PlainExchange(team, piece), progress_(&progress) {}

  void sum_rows(CgShare& share) {
    const CgPartition& partition = share.partition();
    in_pieces(0, share.rows(), piece_, [&](size_t begin, size_t end) {
      share.multiply(begin, end);
      for (size_t stage = 0; stage < partition.stages(); ++stage) {
        announce((*progress_)[share.me()][stage], before_ + end);
        const uint32_t partner = partition.sum_partner(share.me(), stage);
        await((*progress_)[partner][stage], before_ + end);
        const double* const theirs = team_->shared(partner).data() + partition.sums_offset(stage);
        share.add(stage, begin, end, theirs + begin);
      }
    });
    before_ += share.rows();
    team_->barrier();
  }

 private:
  static void announce(std::atomic<size_t>& progress, size_t elements) {
    progress.store(elements, std::memory_order_release);
    progress.notify_all();
  }
  static void await(const std::atomic<size_t>& progress, size_t elements) {
    for (size_t now = 0; (now = progress.load(std::memory_order_acquire)) < elements;) {
      progress.wait(now);
    }
  }

  Progress* progress_;
  size_t before_ = 0;
};

CgResult run(NasClass problem_class, uint32_t ranks, size_t piece, Fault fault = Fault::none) {
  const CgProblem& problem = cg_problem(problem_class);
  const CgPartition partition = CgPartition::create(problem, ranks).value();
  TestTeam<double> team(ranks, partition.shared_elements());
  std::vector<CgResult> results(ranks);
  run_as_ranks(ranks, [&](uint32_t me) {
    CgShare share(problem, partition, me, team.shared(me));
    PlainExchange exchange(team, piece, fault);
    results[me] = solve_cg(share, exchange);
  });
  for (const CgResult& result : results) {
    EXPECT_EQ(result.verified, results[0].verified);
  }
  return results[0];
}

TEST(Cg, GivesTheReferenceValueOnEveryGrid) {
  for (const uint32_t ranks : {1, 2, 4, 8}) {
    const CgResult result = run(NasClass::s, ranks, 1 << 20);
    EXPECT_TRUE(result.verified) << ranks << " ranks: " << result.zeta;
    EXPECT_LT(result.residual_norm, 1e-12) << ranks;
  }
}

TEST(Cg, GivesTheReferenceValueOfClassW) { EXPECT_TRUE(run(NasClass::w, 2, 1 << 20).verified); }

TEST(Cg, PiecesDoNotChangeTheResult) {
  const double whole = run(NasClass::s, 4, 1 << 20).zeta;
  for (const size_t piece : {33, 256}) EXPECT_EQ(run(NasClass::s, 4, piece).zeta, whole) << piece;
}

TEST(Cg, PiecesCanFlowThroughTheStages) {
  const CgProblem& problem = cg_problem(NasClass::s);
  const CgPartition partition = CgPartition::create(problem, 8).value();
  TestTeam<double> team(8, partition.shared_elements());
  Progress progress(8);
  for (auto& stages : progress) stages = std::vector<std::atomic<size_t>>(partition.stages());
  std::vector<CgResult> results(8);
  run_as_ranks(8, [&](uint32_t me) {
    CgShare share(problem, partition, me, team.shared(me));
    FlowingExchange exchange(team, progress, 200);
    results[me] = solve_cg(share, exchange);
  });
  for (const CgResult& result : results) EXPECT_TRUE(result.verified) << result.zeta;
  EXPECT_EQ(results[0].zeta, run(NasClass::s, 8, 1 << 20).zeta);
}

TEST(Cg, CatchesOneWrongElement) {
  EXPECT_FALSE(run(NasClass::s, 4, 64, Fault::wrong_sum).verified);
}

TEST(Cg, CatchesAStalePiece) { EXPECT_FALSE(run(NasClass::s, 4, 64, Fault::stale_sum).verified); }

TEST(Cg, CatchesADisplacedTransposition) {
  EXPECT_FALSE(run(NasClass::s, 2, 64, Fault::displaced_product).verified);
}

TEST(CgPartition, CoversTheMatrixAndPairsRanks) {
  const CgProblem& problem = cg_problem(NasClass::w);
  // 32 ranks have 8 columns; 512 have 32, which do not divide 7000.
  for (const uint32_t ranks : {1, 2, 4, 8, 32, 512}) {
    const CgPartition partition = CgPartition::create(problem, ranks).value();
    EXPECT_EQ(partition.ranks(), ranks);
    EXPECT_EQ(partition.col_begin(partition.grid_cols()), problem.order);
    EXPECT_EQ(partition.row_begin(partition.grid_rows()), problem.order);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      const uint32_t partner = partition.transpose_partner(rank);
      EXPECT_EQ(partition.transpose_partner(partner), rank);
      // What it takes from there, its partner has.
      const uint32_t row = partition.row_of(partner);
      const uint32_t col = partition.col_of(rank);
      EXPECT_GE(partition.col_begin(col), partition.row_begin(row));
      EXPECT_LE(partition.col_begin(col + 1), partition.row_begin(row + 1));
      // Adding up along the stages reaches all ranks of the row.
      std::set<uint32_t> reached = {rank};
      for (size_t stage = 0; stage < partition.stages(); ++stage) {
        std::set<uint32_t> next = reached;
        for (const uint32_t r : reached) next.insert(partition.sum_partner(r, stage));
        reached = next;
      }
      EXPECT_EQ(reached.size(), partition.grid_cols());
    }
  }
}

TEST(CgPartition, RefusesOtherNumbersOfRanks) {
  EXPECT_FALSE(CgPartition::create(cg_problem(NasClass::s), 3).ok());
  EXPECT_FALSE(CgPartition::create(cg_problem(NasClass::s), 0).ok());
}

TEST(CgMatrix, BlocksAreThoseOfTheWholeMatrix) {
  const CgProblem& problem = cg_problem(NasClass::s);
  const SparseRows whole = make_cg_block(problem, 0, problem.order, 0, problem.order);
  const SparseRows block = make_cg_block(problem, 350, 700, 700, 1050);
  size_t entries = 0;
  for (size_t r = 0; r < 350; ++r) {
    for (size_t k = whole.row_start[350 + r]; k < whole.row_start[351 + r]; ++k) {
      if (whole.col[k] < 700 || whole.col[k] >= 1050) continue;
      ASSERT_LT(entries, block.row_start[r + 1]);
      ASSERT_EQ(block.col[entries], whole.col[k] - 700);
      ASSERT_EQ(block.value[entries], whole.value[k]);
      ++entries;
    }
    ASSERT_EQ(block.row_start[r + 1], entries);
  }
  EXPECT_GT(entries, 1000U);
}

}  // namespace
}  // namespace stripline::suites::nas
