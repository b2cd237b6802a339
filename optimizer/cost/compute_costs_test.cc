#include "optimizer/cost/compute_costs.h"

#include <limits>

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"

namespace stripline::cost {
namespace {

ComputeCosts example_costs() { return ComputeCosts(*model::example_model().compute); }

TEST(ComputeCosts, InterpolatesBetweenFootprintsAndHoldsOutside) {
  const ComputeCosts costs = example_costs();
  EXPECT_DOUBLE_EQ(costs.red_in(4096), 1.0e-9);
  EXPECT_DOUBLE_EQ(costs.red_in(65536), 1.1e-9);
  EXPECT_NEAR(costs.red_in(16384), 1.05e-9, 1e-15);  // the middle on the logarithmic scale
  EXPECT_DOUBLE_EQ(costs.red_in(8), 1.0e-9);
  EXPECT_DOUBLE_EQ(costs.red_in(uint64_t{1} << 30), 1.1e-9);
  EXPECT_DOUBLE_EQ(costs.alu(), 2.0e-9);
  EXPECT_DOUBLE_EQ(costs.red_in(4096, Corner::low), 0.98e-9);
  EXPECT_DOUBLE_EQ(costs.red_in(4096, Corner::high), 1.02e-9);
}

TEST(ComputeCosts, ReproducesTheMatrixVectorFormulaOfThePaper) {
  // Equation (3), the vector of M elements remote and used for N rows: per element of the vector
  // T_red_out + (N - 1) T_red_in + N T_vec_in. Each row brings two local references beside.
  const ComputeCosts costs = example_costs();
  const uint32_t rows = 10;
  const LoopClass loop{.n_local_ref = 2, .n_fp_alu = 2};
  const LoopShape shape{.sweeps = rows, .remote_bytes = 65536, .local_bytes = 4096};
  EXPECT_NEAR(costs.seconds_per_element(loop, shape),
              costs.red_out(65536) + (rows - 1) * costs.red_in(65536) + rows * costs.vec_in(4096),
              1e-18);
}

TEST(ComputeCosts, CountsWhatThePrimitivesDoNotHold) {
  const ComputeCosts costs = example_costs();
  const LoopShape shape{.remote_bytes = 65536};
  const double plain = costs.seconds_per_element({.n_fp_alu = 1}, shape);
  EXPECT_DOUBLE_EQ(plain, costs.red_out(65536));
  EXPECT_NEAR(costs.seconds_per_element({.n_fp_alu = 5}, shape), plain + 4 * 1.5e-9, 1e-18);
  EXPECT_NEAR(costs.seconds_per_element({.n_fp_alu = 1, .n_div = 1}, shape), plain + 2e-9, 1e-18);
  EXPECT_DOUBLE_EQ(costs.seconds_per_element({.n_int_alu = 2, .n_fp_alu = 1}, shape), plain);
  EXPECT_GT(costs.seconds_per_element({.n_int_alu = 9, .n_fp_alu = 1}, shape), plain);
}

TEST(ComputeCosts, LargeCountsDoNotWrapAround) {
  const ComputeCosts costs = example_costs();
  constexpr uint32_t kMany = std::numeric_limits<uint32_t>::max();
  // In-cache vector operations, 1.5 ns each, for all but the one that comes with the reference.
  EXPECT_NEAR(costs.seconds_per_element({.n_fp_alu = kMany}, {}), kMany * 1.5e-9, 1e-6);
  EXPECT_NEAR(costs.seconds_per_element({.n_int_alu = 9, .n_fp_alu = kMany}, {}), kMany * 1.5e-9,
              1e-6);
}

TEST(ComputeCosts, RisesWithEveryCountAndIsZeroWithoutAModel) {
  const ComputeCosts costs = example_costs();
  const LoopShape shape{.sweeps = 2, .remote_bytes = 1 << 20, .local_bytes = 4096};
  double previous = 0;
  for (uint32_t n = 0; n < 6; ++n) {
    const double now = costs.seconds_per_element({n, n, n, n}, shape);
    EXPECT_GT(now, previous);
    previous = now;
  }
  EXPECT_EQ(ComputeCosts().seconds_per_element({4, 4, 4, 4}, shape), 0.0);
}

}  // namespace
}  // namespace stripline::cost
