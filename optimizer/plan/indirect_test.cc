#include "optimizer/plan/indirect.h"

#include <algorithm>
#include <vector>

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
  EXPECT_LT(many.predicted_s, predict_indirect(request_of(100000, 3), path, {0}));
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
    EXPECT_FALSE(baseline.tunes_lists);
    EXPECT_EQ(baseline.predicted_s, predict_indirect(request, path, {baseline.block, false}));
    EXPECT_EQ(plan_indirect(request, &path).baseline_s, baseline.predicted_s);
  }
}

// Messages, in which lists travel without a model, take far longer than the elements do by
// themselves.
TEST(PlanIndirect, BlocksThatAreFetchedByAnotherMethodAreACandidate) {
  model::TunedModel m = model::example_model();
  for (model::Segment& segment : m.network.at("inter-node").am->segments) {
    segment.o_base_s = model::example_parameter(1);
    segment.L_s = model::example_parameter(1);
  }
  const CompiledPath path(m, *m.network.find("inter-node"));
  const IndirectRequest request = request_of(4096, 3);
  const IndirectCandidate tuned{usual_indirect_block(request)};
  const IndirectCandidate baseline = IndirectMechanism::baseline(request);
  EXPECT_TRUE(fetch_differently(request, path, tuned, baseline));
  EXPECT_FALSE(fetch_differently(request, path, baseline, baseline));
  EXPECT_FALSE(fetch_differently(request, path, {0}, baseline));
  EXPECT_LT(predict_indirect(request, path, tuned), predict_indirect(request, path, baseline) / 2);
  IndirectRecord record;
  const IndirectPlan plan = plan_indirect(request, &path, record);
  EXPECT_EQ(plan.reason, Reason::tuned);
  EXPECT_TRUE(plan.tunes_lists);
  EXPECT_GT(plan.block, 0U);
  EXPECT_TRUE(std::ranges::any_of(record.alternatives,
                                  [&](const auto& one) { return one.candidate == tuned; }));
  // What is wrong about messages says nothing about gets.
  std::vector<bool> of_baseline;
  for (const Sensitivity& one : record.sensitivities) {
    if (one.source == Source::regions) of_baseline.push_back(one.of_baseline);
  }
  EXPECT_EQ(of_baseline, (std::vector<bool>{true, false}));
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
  const double all_s = predict_indirect(request, path, {4096});
  request.distinct_percent = 10;
  EXPECT_LT(predict_indirect(request, path, {4096}), all_s);
}

}  // namespace
}  // namespace stripline::plan
