#include "optimizer/plan/indirect.h"

#include <gtest/gtest.h>

#include "optimizer/plan/indirect_mechanism.h"
#include "optimizer/plan/path_fixture.h"

namespace stripline::plan {
namespace {

IndirectRequest request_of(uint64_t iterations, uint32_t owners) {
  IndirectRequest request;
  request.iterations = iterations;
  request.owners = owners;
  request.span_bytes = 1 << 20;
  return request;
}

TEST(PlanIndirect, WithoutAModelBlocksReadSoMuch) {
  IndirectRequest request = request_of(100000, 3);
  EXPECT_EQ(plan_indirect(request, nullptr).block, kUsualIndirectReads);
  EXPECT_EQ(plan_indirect(request, nullptr).reason, Reason::no_model);
  request.reads = 4;
  EXPECT_EQ(plan_indirect(request, nullptr).block, kUsualIndirectReads / 4);
  request.iterations = 10;
  EXPECT_EQ(plan_indirect(request, nullptr).block, 10U);
}

TEST(PlanIndirect, ManyElementsGoInBlocksAndOneDoesNot) {
  const CompiledPath path = example_path();
  const IndirectPlan many = plan_indirect(request_of(100000, 3), &path);
  EXPECT_GT(many.block, 1U);
  EXPECT_LE(many.predicted_s, many.baseline_s);
  EXPECT_LT(many.predicted_s, predict_indirect(request_of(100000, 3), path, 0));
  EXPECT_LE(plan_indirect(request_of(1, 1), &path).block, 1U);
  IndirectRequest own = request_of(100000, 3);
  own.remote_percent = 0;
  EXPECT_EQ(plan_indirect(own, &path).block, 0U);
}

TEST(PlanIndirect, ComputationMakesBlocksSmaller) {
  const CompiledPath path = example_path();
  IndirectRequest request = request_of(32768, 3);
  const uint64_t without = plan_indirect(request, &path).block;
  request.compute_s = 1000;
  const IndirectPlan with = plan_indirect(request, &path);
  EXPECT_NE(with.reason, Reason::tuned);  // beside it all reads are nothing
  request.compute_s = 5e-3;
  EXPECT_LE(plan_indirect(request, &path).block, without);
}

// What a guard compares with is what the loop does without a model, never each element by itself.
TEST(PlanIndirect, TheBaselineIsWhatIsDoneWithoutAModel) {
  const CompiledPath path = example_path();
  for (const uint64_t iterations : {1U, 100U, 100000U}) {
    const IndirectRequest request = request_of(iterations, 3);
    const IndirectPlan baseline = baseline_of_indirect(request, &path);
    EXPECT_EQ(baseline.block, plan_indirect(request, nullptr).block);
    EXPECT_EQ(baseline.predicted_s, predict_indirect(request, path, baseline.block));
    EXPECT_EQ(plan_indirect(request, &path).baseline_s, baseline.predicted_s);
  }
}

TEST(PlanIndirect, BlocksHoldNoMoreReadsThanThereIsRoomFor) {
  IndirectRequest request = request_of(10000000, 3);
  EXPECT_EQ(most_indirect_block(request), kMostIndirectReads);
  request.reads = 1000;
  EXPECT_EQ(most_indirect_block(request), kMostIndirectReads / 1000);
  request.reads = 1 << 20;
  EXPECT_EQ(most_indirect_block(request), 1U);
}

TEST(PlanIndirect, EqualReadsAreFetchedOnce) {
  const CompiledPath path = example_path();
  IndirectRequest request = request_of(100000, 3);
  const double all_s = predict_indirect(request, path, 4096);
  request.distinct_percent = 10;
  EXPECT_LT(predict_indirect(request, path, 4096), all_s);
}

}  // namespace
}  // namespace stripline::plan
