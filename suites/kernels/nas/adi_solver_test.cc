// BT and SP meet the published results, over any number of ranks and any division of the work, and
// spoiled exchanges do not.
//
// STRIPLINE_TEST_NAS_CLASSES (default S) says which classes run to their end, e.g. SWA.
#include "suites/kernels/nas/adi_solver.h"

#include <cmath>

#include <gtest/gtest.h>

#include "suites/kernels/nas/bt_sweeps.h"
#include "suites/kernels/nas/sp_sweeps.h"
#include "suites/kernels/nas/testing/adi_exchange.h"

namespace stripline::suites::nas {
namespace {

struct Sp {
  using Sweeps = SpSweeps;
  static std::span<const AdiClass> classes() { return sp_classes(); }
};

struct Bt {
  using Sweeps = BtSweeps;
  static std::span<const AdiClass> classes() { return bt_classes(); }
};

template <typename Benchmark>
class AdiSolver : public ::testing::Test {
 protected:
  using Sweeps = typename Benchmark::Sweeps;
  const AdiClass& s = *find_class(Benchmark::classes(), NasClass::s);

  AdiNorms run(int iterations, uint32_t ranks, const AdiTestManner& manner = {}) {
    return run_adi<Sweeps>(s, iterations, ranks, manner);
  }
  static double difference(const AdiNorms& a, const AdiNorms& b) {
    return largest_deviation({.reference = b}, a);
  }
};

using Benchmarks = ::testing::Types<Bt, Sp>;
TYPED_TEST_SUITE(AdiSolver, Benchmarks);

TYPED_TEST(AdiSolver, MeetsTheReference) {
  for (const AdiClass& problem_class : TypeParam::classes()) {
    if (!is_class_to_run(problem_class.problem_class)) continue;
    for (const uint32_t ranks : {1U, 4U, 9U}) {
      const AdiNorms norms =
          run_adi<typename TypeParam::Sweeps>(problem_class, problem_class.iterations, ranks);
      EXPECT_TRUE(verify(problem_class, norms))
          << letter(problem_class.problem_class) << " on " << ranks << " ranks deviates by "
          << largest_deviation(problem_class, norms);
    }
  }
}

TYPED_TEST(AdiSolver, AnyDivisionOfTheWorkGivesTheSame) {
  constexpr int kIterations = 5;
  for (const uint32_t ranks : {1U, 4U}) {
    const AdiNorms whole = this->run(kIterations, ranks);
    for (const size_t piece : {size_t{1}, size_t{2}, size_t{7}}) {
      const AdiNorms pieces = this->run(kIterations, ranks, {.piece = piece, .backwards = true});
      EXPECT_EQ(pieces.residual, whole.residual);
      EXPECT_EQ(pieces.error, whole.error);
    }
  }
}

/// Everything that an exchange can do wrong along an axis, once, in time step `at`.
std::vector<AdiTestManner> wrongs(int axis, int at) {
  const auto face = [axis](const AdiFace& it) { return it.axis == axis && it.cell == 0; };
  const auto forward = [axis](const AdiSweepStep& it) { return it.axis == axis && it.forward; };
  const auto backward = [axis](const AdiSweepStep& it) { return it.axis == axis && !it.forward; };
  return {
      {.spoil_at = at, .stale_face = face},     {.spoil_at = at, .wrong_face = face},
      {.spoil_at = at, .stale_step = forward},  {.spoil_at = at, .wrong_step = forward},
      {.spoil_at = at, .stale_step = backward}, {.spoil_at = at, .wrong_step = backward},
  };
}

// Late in the run: the solution becomes stationary, so that time steps undo what earlier ones did
// wrong.
TYPED_TEST(AdiSolver, SpoiledExchangesFailTheVerification) {
  for (int axis = 0; axis < 3; ++axis) {
    size_t which = 0;
    for (const AdiTestManner& manner : wrongs(axis, this->s.iterations - 1)) {
      const AdiNorms norms = this->run(this->s.iterations, 4, manner);
      EXPECT_FALSE(verify(this->s, norms)) << "axis " << axis << ", mistake " << which;
      ++which;
    }
  }
}

TYPED_TEST(AdiSolver, AFewTimeStepsShowWhatIsSpoiledAtOnce) {
  const AdiNorms right = this->run(3, 1);
  EXPECT_LT(this->difference(this->run(3, 4), right), 1e-13);
  for (int axis = 0; axis < 3; ++axis) {
    for (const AdiTestManner& manner : wrongs(axis, 2)) {
      EXPECT_GT(this->difference(this->run(3, 4, manner), right), 1e-12) << "axis " << axis;
    }
  }
}

TYPED_TEST(AdiSolver, WhatIsNoNumberIsNoResult) {
  AdiNorms norms = this->s.reference;
  EXPECT_TRUE(verify(this->s, norms));
  norms.error[2] = std::nan("");
  EXPECT_FALSE(verify(this->s, norms));
  norms = this->s.reference;
  norms.residual[4] *= 1 + 2e-8;
  EXPECT_FALSE(verify(this->s, norms));
}

}  // namespace
}  // namespace stripline::suites::nas
