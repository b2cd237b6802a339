// The kernels' verification accepts right results and catches every kind of wrong one.
#include <vector>

#include <gtest/gtest.h>

#include "suites/kernels/matvec_problem.h"
#include "suites/kernels/transpose_problem.h"

namespace stripline::suites {
namespace {

class Matvec : public ::testing::Test {
 protected:
  static constexpr size_t kRows = 13;
  static constexpr size_t kCols = 37;
  static constexpr uint64_t kSalt = 5;

  Matvec() : problem(kRows, kCols, 3), matrix(kRows * kCols) {
    MatvecProblem::fill(matrix.data(), kRows, kCols, kSalt);
  }
  void run(size_t strip, size_t elements) {
    problem.clear_result();
    for (size_t begin = 0; begin < elements; begin += strip) {
      const size_t end = std::min(begin + strip, elements);
      problem.compute(begin, end, matrix.data() + begin);
    }
  }

  MatvecProblem problem;
  std::vector<double> matrix;
};

TEST_F(Matvec, IsRightForEveryStripSize) {
  for (size_t strip = 1; strip <= matrix.size(); strip += 6) {
    run(strip, matrix.size());
    EXPECT_TRUE(problem.verify(kSalt, matrix.size())) << strip;
  }
}

TEST_F(Matvec, APartOfTheLoopIsVerifiedAsSuch) {
  run(4, 100);
  EXPECT_TRUE(problem.verify(kSalt, 100));
  EXPECT_FALSE(problem.verify(kSalt, 101));
  EXPECT_FALSE(problem.verify(kSalt, matrix.size()));
}

TEST_F(Matvec, CatchesOneWrongElementAnywhere) {
  for (size_t i = 0; i < matrix.size(); i += 17) {
    matrix[i] += 1;
    run(50, matrix.size());
    EXPECT_FALSE(problem.verify(kSalt, matrix.size())) << i;
    matrix[i] -= 1;
  }
}

TEST_F(Matvec, CatchesDisplacedMissingAndStaleStrips) {
  std::swap(matrix[40], matrix[41]);
  run(50, matrix.size());
  EXPECT_FALSE(problem.verify(kSalt, matrix.size())) << "displaced";

  MatvecProblem::fill(matrix.data(), kRows, kCols, kSalt);
  run(50, matrix.size() - 50);
  EXPECT_FALSE(problem.verify(kSalt, matrix.size())) << "missing";

  // One strip left from the repetition before.
  std::vector<double> before(matrix.size());
  MatvecProblem::fill(before.data(), kRows, kCols, kSalt - 1);
  std::copy_n(before.begin() + 64, 8, matrix.begin() + 64);
  run(8, matrix.size());
  EXPECT_FALSE(problem.verify(kSalt, matrix.size())) << "stale";
}

TEST_F(Matvec, CatchesAResultThatIsComputedTwice) {
  run(50, matrix.size());
  problem.compute(0, 1, matrix.data());
  EXPECT_FALSE(problem.verify(kSalt, matrix.size()));
}

class Transpose : public ::testing::Test {
 protected:
  static constexpr size_t kN = 24;
  static constexpr uint32_t kRanks = 2;
  static constexpr uint64_t kSalt = 9;

  // Rank 1 reads its block of rank 0.
  Transpose() : owner(kN, kRanks, 0, 2), reader(kN, kRanks, 1, 2), source(owner.source_elements()) {
    owner.fill(source.data(), kSalt);
  }
  void run(size_t strip, size_t elements) {
    reader.clear_result();
    const Complex* const block = source.data() + owner.block_start(1);
    for (size_t begin = 0; begin < elements; begin += strip) {
      reader.compute(0, begin, std::min(begin + strip, elements), block + begin);
    }
  }

  TransposeProblem owner;
  TransposeProblem reader;
  std::vector<Complex> source;
};

TEST_F(Transpose, IsRightForEveryStripSize) {
  for (size_t strip = 1; strip <= owner.block_elements(); ++strip) {
    run(strip, owner.block_elements());
    EXPECT_TRUE(reader.verify(0, kSalt, owner.block_elements())) << strip;
  }
}

TEST_F(Transpose, APartOfTheLoopIsVerifiedAsSuch) {
  run(5, 40);
  EXPECT_TRUE(reader.verify(0, kSalt, 40));
  EXPECT_FALSE(reader.verify(0, kSalt, 39));
  EXPECT_FALSE(reader.verify(0, kSalt, owner.block_elements()));
}

TEST_F(Transpose, CatchesWrongDisplacedAndStaleElements) {
  const size_t at = owner.block_start(1) + 30;
  source[at].im += 1;
  run(16, owner.block_elements());
  EXPECT_FALSE(reader.verify(0, kSalt, owner.block_elements())) << "wrong";
  source[at].im -= 1;

  std::swap(source[at], source[at + 1]);
  run(16, owner.block_elements());
  EXPECT_FALSE(reader.verify(0, kSalt, owner.block_elements())) << "displaced";
  std::swap(source[at], source[at + 1]);

  source[at].re -= 1;  // what the salt before would have left
  run(16, owner.block_elements());
  EXPECT_FALSE(reader.verify(0, kSalt, owner.block_elements())) << "stale";
}

}  // namespace
}  // namespace stripline::suites
