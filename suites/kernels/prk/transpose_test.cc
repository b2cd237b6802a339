// PRK transpose over plain memory: right for every size of a strip, and every wrong element shows.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "suites/kernels/prk/transpose_share.h"

namespace stripline::suites::prk {
namespace {

constexpr uint64_t kSalt = 5;
constexpr size_t kIterations = 3;

// All ranks in one thread, one after the other.
class Transpose {
 public:
  Transpose(size_t order, uint32_t ranks)
      : partition_(TransposePartition::create(order, ranks).value()),
        memory_(ranks, std::vector<double>(partition_.shared_elements())) {
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      shares_.emplace_back(partition_, rank, memory_[rank]);
      shares_.back().start(kSalt);
    }
  }

  TransposeShare& share(uint32_t rank) { return shares_[rank]; }
  /// What rank `owner` has for `reader`.
  double* block(uint32_t owner, uint32_t reader) {
    return memory_[owner].data() + partition_.block_start(reader);
  }

  void iterate(size_t strip) {
    const size_t elements = partition_.block_elements();
    for (TransposeShare& reader : shares_) {
      for (uint32_t owner = 0; owner < partition_.ranks(); ++owner) {
        for (size_t begin = 0; begin < elements; begin += strip) {
          reader.add(owner, begin, std::min(begin + strip, elements),
                     block(owner, reader.me()) + begin);
        }
      }
    }
    for (TransposeShare& share : shares_) share.advance();
  }

  double error() const {
    double sum = 0;
    for (const TransposeShare& share : shares_) {
      for (uint32_t owner = 0; owner < partition_.ranks(); ++owner) {
        sum += share.error(owner, kSalt, kIterations, partition_.block_elements());
      }
    }
    return sum;
  }

 private:
  TransposePartition partition_;
  std::vector<std::vector<double>> memory_;
  std::vector<TransposeShare> shares_;
};

TEST(PrkTranspose, IsRightForEveryStripSize) {
  for (const uint32_t ranks : {1U, 2U, 3U}) {
    for (size_t strip = 1; strip <= 40; ++strip) {
      Transpose all(36, ranks);
      for (size_t i = 0; i < kIterations; ++i) all.iterate(strip);
      EXPECT_EQ(all.error(), 0) << ranks << " ranks, strips of " << strip;
    }
  }
}

// By the definition, on one rank: B(i, j), column by column, grows by A(j, i) in each iteration.
TEST(PrkTranspose, IsWhatTheLoopsSay) {
  constexpr size_t kN = 19;
  Transpose one(kN, 1);
  std::vector<double> a(kN * kN);
  std::vector<double> b(kN * kN);
  for (size_t j = 0; j < kN; ++j) {
    for (size_t i = 0; i < kN; ++i) a[j * kN + i] = static_cast<double>(kN * j + i + kSalt);
  }
  for (size_t iteration = 0; iteration < kIterations; ++iteration) {
    one.iterate(kN * kN);
    for (size_t j = 0; j < kN; ++j) {
      for (size_t i = 0; i < kN; ++i) b[j * kN + i] += a[i * kN + j];
    }
    for (double& element : a) element += 1;
  }
  EXPECT_TRUE(std::equal(b.begin(), b.end(), one.share(0).result().begin()));
}

TEST(PrkTranspose, AWrongOrLateElementIsAnError) {
  for (size_t i = 0; i < kIterations; ++i) {
    Transpose all(24, 2);
    for (size_t before = 0; before < i; ++before) all.iterate(16);
    all.block(0, 1)[30] -= 1;  // rank 1 gets what it was an iteration ago
    all.iterate(16);
    all.block(0, 1)[30] += 1;
    for (size_t after = i + 1; after < kIterations; ++after) all.iterate(16);
    EXPECT_EQ(all.error(), 1);
  }
}

TEST(PrkTranspose, APartOfTheLoopIsVerifiedAsSuch) {
  Transpose all(24, 2);
  TransposeShare& reader = all.share(1);
  reader.add(0, 0, 40, all.block(0, 1));
  EXPECT_EQ(reader.error(0, kSalt, 1, 40), 0);
  EXPECT_GT(reader.error(0, kSalt, 1, 39), 0);
  EXPECT_GT(reader.error(0, kSalt, 1, 144), 0);
  EXPECT_EQ(reader.error(1, kSalt, 1, 0), 0);
}

TEST(PrkTranspose, RefusesRanksThatDoNotDivideTheOrder) {
  EXPECT_EQ(TransposePartition::create(10, 4).error().code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stripline::suites::prk
