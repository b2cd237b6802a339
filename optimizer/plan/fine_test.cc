#include "optimizer/plan/fine.h"

#include <gtest/gtest.h>

#include "optimizer/plan/fine_mechanism.h"
#include "optimizer/plan/path_fixture.h"

namespace stripline::plan {
namespace {

FineRequest fine_reads() {
  return {.reads = 1000, .boxes = 100, .box_bytes = 160, .bursts = 10, .compute_s = 1e-4};
}

double fine_s(const FineRequest& request, FineMethod method) {
  static const CompiledPath path = example_path();
  return predict_fine(request, path, method);
}

TEST(PlanFine, WithoutAModelNeighboursAreFetchedTogether) {
  EXPECT_EQ(plan_fine(fine_reads(), nullptr).method, FineMethod::boxes);
  EXPECT_EQ(plan_fine(fine_reads(), nullptr).reason, Reason::no_model);
  EXPECT_EQ(plan_fine(fine_reads(), nullptr).predicted_s, 0);
}

TEST(PlanFine, TheBaselineIsTheProgramAsItIsWritten) {
  EXPECT_EQ(FineMechanism::baseline(fine_reads()), FineMethod::blocking);
  const CompiledPath path = example_path();
  // A read whose value is needed at once gains nothing.
  const FinePlan plan = plan_fine({.reads = 1, .boxes = 1}, &path);
  EXPECT_EQ(plan.method, FineMethod::blocking);
  EXPECT_EQ(plan.predicted_s, plan.baseline_s);
}

TEST(PlanFine, PredictsWhatIsHidden) {
  const FineRequest request = fine_reads();
  EXPECT_LT(fine_s(request, FineMethod::single), fine_s(request, FineMethod::blocking));
  EXPECT_LT(fine_s(request, FineMethod::boxes), fine_s(request, FineMethod::single));
  EXPECT_GE(fine_s(request, FineMethod::boxes), request.compute_s);
  // A program that waits for each read hides nothing.
  FineRequest alone = request;
  alone.bursts = alone.boxes = alone.reads;
  alone.box_bytes = alone.read_bytes;
  EXPECT_DOUBLE_EQ(fine_s(alone, FineMethod::single), fine_s(alone, FineMethod::blocking));
  EXPECT_DOUBLE_EQ(fine_s(alone, FineMethod::single), fine_s(alone, FineMethod::boxes));
}

// What decides is how many reads a block serves.
TEST(PlanFine, ReadsThatAreUsedAtOnceAreFetchedWithTheirNeighbours) {
  const CompiledPath path = example_path();
  FineRequest request{.reads = 10000, .boxes = 100, .box_bytes = 1024, .bursts = 100};
  request.at_once = true;
  EXPECT_EQ(plan_fine(request, &path).method, FineMethod::boxes);
  request.boxes = request.bursts = request.reads;
  EXPECT_EQ(plan_fine(request, &path).method, FineMethod::blocking);
  EXPECT_EQ(plan_fine(request, nullptr).method, FineMethod::boxes);
}

TEST(PlanFine, BlocksTakeAtMostTwiceTheTimeOfAWord) {
  EXPECT_EQ(fine_block_bytes(nullptr), kUsualFineBlockBytes);
  const CompiledPath path = example_path();
  const uint64_t block = fine_block_bytes(&path);
  const cost::LinkCosts& get = path.vis.link(Direction::get);
  EXPECT_GE(block, 64U);
  EXPECT_LE(block, kFineBoxBytes);
  EXPECT_LE(get.blocking(block), 2 * get.blocking(8));
  const bool is_longer = get.blocking(2 * block) > 2 * get.blocking(8);
  EXPECT_TRUE(block == kFineBoxBytes || is_longer);
}

TEST(PlanFine, PredictsWrites) {
  FineRequest request;
  request.writes = 200;
  EXPECT_LT(fine_s(request, FineMethod::boxes), fine_s(request, FineMethod::blocking));
  EXPECT_EQ(fine_s(request, FineMethod::boxes), fine_s(request, FineMethod::single));
  EXPECT_EQ(fine_s(request, FineMethod::boxes), fine_s(request, FineMethod::lists));
}

TEST(PlanFine, PredictsFewInFlightAndSharedNics) {
  FineRequest request = fine_reads();
  const double many_s = fine_s(request, FineMethod::single);
  request.in_flight = 1;
  EXPECT_GT(fine_s(request, FineMethod::single), many_s);
  request = fine_reads();
  request.surroundings.nic_ranks = 16;
  EXPECT_GT(fine_s(request, FineMethod::single), many_s);
}

// What travels together need not be near each other.
TEST(PlanFine, ListsDoNotDependOnBoxes) {
  FineRequest request = fine_reads();
  const double list_s = fine_s(request, FineMethod::lists);
  request.boxes = request.reads;
  request.box_bytes = request.read_bytes;
  EXPECT_EQ(fine_s(request, FineMethod::lists), list_s);
  request.ranks = 8;
  EXPECT_NE(fine_s(request, FineMethod::lists), list_s);
}

TEST(PlanFine, TakesAnotherMethodOnlyIfItIsSurelyFaster) {
  const CompiledPath path = example_path();
  for (const uint64_t bursts : {1U, 30U, 1000U}) {
    for (const uint64_t boxes : {10U, 100U, 1000U}) {
      FineRequest request = fine_reads();
      request.bursts = bursts;
      request.boxes = boxes;
      FineRecord record;
      const FinePlan plan = plan_fine(request, &path, record);
      EXPECT_EQ(plan, plan_fine(request, &path));
      EXPECT_EQ(record.alternatives.size(), kFineMethodNames.size());
      EXPECT_EQ(plan.baseline_s, predict_fine(request, path, FineMethod::blocking));
      EXPECT_EQ(plan.predicted_s, predict_fine(request, path, plan.method));
      if (plan.method == FineMethod::blocking) continue;
      EXPECT_EQ(plan.reason, Reason::tuned);
      EXPECT_GT(plan.gain_low, path.strip.minimum_gain());
    }
  }
}

TEST(PlanFine, TheGapIsWhereTwoGetsTakeAsLong) {
  EXPECT_EQ(fine_gap_bytes(nullptr), kUsualFineGapBytes);
  const CompiledPath path = example_path();
  const cost::LinkCosts& get = path.vis.link(Direction::get);
  const double two_s = get.blocking(8) + get.stream(8);
  const uint64_t gap = fine_gap_bytes(&path);
  if (gap > 0) {
    EXPECT_LE(get.blocking(16 + gap), two_s);
  }
  EXPECT_EQ(gap % 8, 0U);
  if (gap < kFineBoxBytes) {
    EXPECT_GT(get.blocking(16 + gap + 8), two_s);
  }
}

TEST(FineMechanism, RefusesWhatIsNotPossible) {
  EXPECT_TRUE(FineMechanism::request_of(fine_reads()).ok());
  EXPECT_FALSE(FineMechanism::request_of({}).ok());
  FineRequest request = fine_reads();
  request.boxes = request.reads + 1;
  EXPECT_FALSE(FineMechanism::request_of(request).ok());
  request = fine_reads();
  request.bursts = request.reads + 1;
  EXPECT_FALSE(FineMechanism::request_of(request).ok());
  // Reads that are not said to be neighbours are none.
  request = fine_reads();
  request.boxes = 0;
  EXPECT_EQ(FineMechanism::request_of(request)->boxes, request.reads);
}

}  // namespace
}  // namespace stripline::plan
