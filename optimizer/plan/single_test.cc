#include "optimizer/plan/single.h"

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"
#include "optimizer/plan/single_mechanisms.h"

namespace stripline::plan {
namespace {

SingleCosts by_model() { return SingleCosts(*model::example_model().rma); }

TEST(PlanAtomic, GoesByMessageWhereTheProviderCannot) {
  EXPECT_EQ(plan_atomic({}, SingleCosts()).method, AtomicMethod::provider);
  EXPECT_EQ(plan_atomic({.mapped = true}, SingleCosts()).method, AtomicMethod::message);
  EXPECT_EQ(plan_atomic({.lacking = true}, SingleCosts()).method, AtomicMethod::message);
  const AtomicPlan plan = plan_atomic({}, by_model());
  EXPECT_EQ(plan.method, AtomicMethod::message);
  EXPECT_EQ(plan.reason, Reason::measured);
}

TEST(PlanAtomic, CombinesThoseThatMayWaitWherePutsAreCombined) {
  SingleCosts costs;
  EXPECT_EQ(plan_atomic({.together = true}, costs).method, AtomicMethod::combined);
  EXPECT_EQ(plan_atomic({.mapped = true, .together = true}, costs).method, AtomicMethod::combined);
  costs.combined_put_bytes = 0;
  EXPECT_EQ(plan_atomic({.together = true}, costs).method, AtomicMethod::provider);
  EXPECT_EQ(plan_atomic({.mapped = true, .together = true}, costs).method, AtomicMethod::message);
}

TEST(PlanPut, CombinesAndCopiesUpToWhatTheModelSays) {
  const SingleCosts costs = by_model();
  EXPECT_EQ(plan_put({.bytes = 256}, costs).method, PutMethod::alone);
  EXPECT_EQ(plan_put({.bytes = 256, .implicit = true}, costs).method, PutMethod::combined);
  EXPECT_EQ(plan_put({.bytes = 257, .implicit = true}, costs).method, PutMethod::alone);
  EXPECT_EQ(plan_put({.bytes = 32768, .buffered = true}, costs).method, PutMethod::copied);
  EXPECT_EQ(plan_put({.bytes = 32769, .buffered = true}, costs).method, PutMethod::alone);
  EXPECT_EQ(plan_put({.bytes = 64, .implicit = true}, SingleCosts()).method, PutMethod::combined);
}

TEST(PlanProgress, TakesAThreadWherePeersHaveWaitedLongerThanItWouldHaveCost) {
  SingleCosts costs;
  costs.progress = {.call_s = 1e-6, .answer_s = 50e-6};
  const auto thread = [&](uint64_t calls, uint64_t missed, double waited_s) {
    return plan_progress(
               {.calls = calls, .missed = missed, .waited_s = waited_s, .absence_s = 1e-3}, costs)
               .method == ProgressMethod::thread;
  };
  EXPECT_FALSE(thread(0, 0, 0));
  EXPECT_TRUE(thread(1000, 1, 5e-3));
  EXPECT_FALSE(thread(10000, 1, 5e-3));
  EXPECT_TRUE(thread(10000, 4, 20e-3));
  // What a thread would not have served in time is no loss.
  EXPECT_FALSE(thread(0, 10, 10e-3));
}

TEST(PlanProgress, IsExplainedAsAllDecisionsAre) {
  const SingleCosts costs = by_model();
  const auto e = explain<PutMechanism>({.bytes = 64, .implicit = true}, &costs);
  EXPECT_EQ(to_text(e),
            "put of 64 B without a handle\nplan: combined\nwhy: a campaign found it to be the "
            "fastest\n");
}

}  // namespace
}  // namespace stripline::plan
