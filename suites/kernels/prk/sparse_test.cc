// PRK sparse over plain memory: the matrix is the specification's, the product right for every size
// of a strip, and every wrong element shows.
#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "suites/kernels/prk/sparse_share.h"

namespace stripline::suites::prk {
namespace {

constexpr uint64_t kSalt = 5;
constexpr size_t kIterations = 3;

// All ranks in one thread, one after the other.
class Sparse {
 public:
  Sparse(const SparseSize& size, uint32_t ranks)
      : partition_(SparsePartition::create(size, ranks).value()),
        memory_(ranks, std::vector<double>(partition_.rows_per_rank())) {
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      shares_.emplace_back(partition_, rank, memory_[rank]);
      shares_.back().start(kSalt);
    }
  }

  const SparsePartition& partition() const { return partition_; }
  SparseShare& share(uint32_t rank) { return shares_[rank]; }
  std::vector<double>& part(uint32_t rank) { return memory_[rank]; }

  void advance() {
    for (SparseShare& share : shares_) share.advance();
  }
  void multiply(size_t strip) {
    const size_t elements = partition_.rows_per_rank();
    for (SparseShare& share : shares_) {
      for (uint32_t owner = 0; owner < partition_.ranks(); ++owner) {
        for (size_t begin = 0; begin < elements; begin += strip) {
          share.multiply(owner, begin, std::min(begin + strip, elements),
                         memory_[owner].data() + begin);
        }
      }
    }
  }

  size_t wrong_rows() const {
    size_t wrong = 0;
    for (const SparseShare& share : shares_) {
      wrong += share.sums(kSalt, kIterations, [&](uint32_t) { return partition_.rows_per_rank(); })
                   .wrong_rows;
    }
    return wrong;
  }

 private:
  SparsePartition partition_;
  std::vector<std::vector<double>> memory_;
  std::vector<SparseShare> shares_;
};

// Points of a grid of 4 x 4 have 4 bits: the neighbours of point 0 are 1, 3, 4 and 12, reversed 8,
// 12, 2 and 3; those of point 5 (itself 10 reversed) are 4, 6, 1 and 9: 2, 6, 8 and 9.
TEST(PrkSparse, ColumnsAreScrambledNeighbours) {
  const auto partition = SparsePartition::create({2, 1}, 1).value();
  EXPECT_EQ(partition.rows(), 16u);
  EXPECT_EQ(partition.row_entries(), 5u);
  const auto columns = [&](size_t row) {
    std::set<size_t> all;
    partition.for_columns(row, [&](size_t column) { all.insert(column); });
    return all;
  };
  EXPECT_EQ(columns(0), (std::set<size_t>{0, 8, 12, 2, 3}));
  EXPECT_EQ(columns(5), (std::set<size_t>{10, 2, 6, 8, 9}));
}

TEST(PrkSparse, EveryRowAndColumnHasAsManyEntries) {
  const auto partition = SparsePartition::create({3, 3}, 1).value();
  std::vector<size_t> uses(partition.rows());
  for (size_t row = 0; row < partition.rows(); ++row) {
    std::set<size_t> distinct;
    partition.for_columns(row, [&](size_t column) {
      distinct.insert(column);
      ++uses.at(column);
    });
    EXPECT_EQ(distinct.size(), partition.row_entries());
  }
  for (const size_t count : uses) EXPECT_EQ(count, partition.row_entries());
}

TEST(PrkSparse, MultipliesAsTheLoopsSay) {
  Sparse one({3, 2}, 1);
  const size_t rows = one.partition().rows();
  for (size_t i = 0; i < rows; ++i) one.part(0)[i] = static_cast<double>(i * i % 97);
  one.multiply(7);
  for (size_t row = 0; row < rows; ++row) {
    double expected = 0;
    one.partition().for_columns(row, [&](size_t column) {
      expected += one.part(0)[column] / static_cast<double>(column + 1);
    });
    EXPECT_NEAR(one.share(0).result()[row], expected, 1e-12);
  }
}

TEST(PrkSparse, IsRightForEveryStripSize) {
  for (const uint32_t ranks : {1U, 2U, 8U}) {
    for (size_t strip = 1; strip <= 65; strip += 4) {
      Sparse all({3, 2}, ranks);
      for (size_t i = 0; i < kIterations; ++i) {
        all.advance();
        all.multiply(strip);
      }
      EXPECT_EQ(all.wrong_rows(), 0u) << ranks << " ranks, strips of " << strip;
      const auto sums = all.share(0).sums(
          kSalt, kIterations, [&](uint32_t) { return all.partition().rows_per_rank(); });
      const size_t rows = all.partition().rows_per_rank();
      EXPECT_EQ(sums.expected, static_cast<double>(rows * 9 * (6 + 7 + 8)));
      EXPECT_NEAR(sums.sum, sums.expected, kSparseTolerance * sums.expected);
    }
  }
}

// What is left from the iteration before, or is its neighbour's, is wrong in as many rows as use
// it.
TEST(PrkSparse, EveryWrongElementShows) {
  for (size_t i = 0; i < 32; ++i) {
    for (const bool late : {false, true}) {
      Sparse all({3, 2}, 2);
      for (size_t iteration = 0; iteration < kIterations; ++iteration) {
        all.advance();
        double& element = all.part(1)[i];
        const double right = element;
        if (iteration == 1)
          element = late ? right - static_cast<double>(32 + i + 1) : all.part(1)[(i + 1) % 32];
        all.multiply(8);
        element = right;
      }
      EXPECT_EQ(all.wrong_rows(), all.partition().row_entries()) << i;
    }
  }
}

TEST(PrkSparse, APartOfTheLoopIsVerifiedAsSuch) {
  Sparse all({3, 2}, 2);
  all.advance();
  SparseShare& share = all.share(0);
  share.multiply(1, 0, 20, all.part(1).data());
  const auto wrong_rows = [&](size_t covered) {
    return share.sums(kSalt, 1, [&](uint32_t owner) { return owner == 1 ? covered : 0; })
        .wrong_rows;
  };
  EXPECT_EQ(wrong_rows(20), 0u);
  EXPECT_GT(wrong_rows(19), 0u);
  EXPECT_GT(wrong_rows(32), 0u);
}

TEST(PrkSparse, RefusesWhatDoesNotFit) {
  EXPECT_EQ(SparsePartition::create({3, 2}, 3).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(SparsePartition::create({3, 4}, 2).error().code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stripline::suites::prk
