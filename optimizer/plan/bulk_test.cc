#include "optimizer/plan/bulk.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "optimizer/plan/bulk_mechanism.h"
#include "optimizer/plan/path_fixture.h"

namespace stripline::plan {
namespace {

BulkRequest phase() {
  return {.puts = 40,
          .put_bytes = 4096,
          .gets = 40,
          .get_bytes = 4096,
          .compute_s = 1e-3,
          .lead_s = 5e-4};
}

double predicted(const BulkRequest& request, BulkMethod method) {
  static const CompiledPath path = example_path();
  return predict_bulk(request, path, method);
}

TEST(PlanBulk, TheBaselineIsTheProgramAsItIsWritten) {
  EXPECT_EQ(BulkMechanism::baseline(phase()), BulkMethod::blocking);
  const CompiledPath path = example_path();
  // A call whose result is needed at once gains nothing.
  const BulkRequest alone{.gets = 1, .get_bytes = 4096};
  const BulkPlan plan = plan_bulk(alone, &path);
  EXPECT_EQ(plan.method, BulkMethod::blocking);
  EXPECT_EQ(plan.predicted_s, plan.baseline_s);
}

TEST(PlanBulk, WithoutAModelNothingIsWaitedFor) {
  BulkRequest request = phase();
  EXPECT_EQ(plan_bulk(request, nullptr).method, BulkMethod::both);
  EXPECT_EQ(plan_bulk(request, nullptr).reason, Reason::no_model);
  request.gets = 0;
  EXPECT_EQ(plan_bulk(request, nullptr).method, BulkMethod::puts);
  request = phase();
  request.puts = 0;
  EXPECT_EQ(plan_bulk(request, nullptr).method, BulkMethod::gets);
  EXPECT_EQ(plan_bulk({}, nullptr).method, BulkMethod::blocking);
}

TEST(PlanBulk, AllowsWhatThePhaseDoes) {
  BulkRequest request = phase();
  request.gets = 0;
  EXPECT_TRUE(allows(request, BulkMethod::blocking));
  EXPECT_TRUE(allows(request, BulkMethod::puts));
  EXPECT_FALSE(allows(request, BulkMethod::gets));
  EXPECT_FALSE(allows(request, BulkMethod::both));
}

TEST(PlanBulk, PredictsWhatIsHidden) {
  const BulkRequest request = phase();
  EXPECT_LT(predicted(request, BulkMethod::puts), predicted(request, BulkMethod::blocking));
  EXPECT_LT(predicted(request, BulkMethod::gets), predicted(request, BulkMethod::blocking));
  EXPECT_LT(predicted(request, BulkMethod::both), predicted(request, BulkMethod::puts));
  EXPECT_LT(predicted(request, BulkMethod::both), predicted(request, BulkMethod::gets));
  // Computing before the gets hides more of them, and changes nothing else.
  BulkRequest sooner = request;
  sooner.lead_s = 0;
  EXPECT_GT(predicted(sooner, BulkMethod::gets), predicted(request, BulkMethod::gets));
  EXPECT_EQ(predicted(sooner, BulkMethod::puts), predicted(request, BulkMethod::puts));
  EXPECT_GE(predicted(request, BulkMethod::both), request.compute_s);
}

TEST(PlanBulk, PredictsCopiesAndTheirRoom) {
  BulkRequest request = phase();
  const double copied_s = predicted(request, BulkMethod::puts);
  request.stable_sources = true;
  EXPECT_LT(predicted(request, BulkMethod::puts), copied_s);
  // A put that finds no room is waited for, whatever the method, unless its source stays.
  request.buffer_bytes = 4096;
  EXPECT_LT(predicted(request, BulkMethod::puts), predicted(request, BulkMethod::blocking));
  request.stable_sources = false;
  EXPECT_EQ(predicted(request, BulkMethod::puts), predicted(request, BulkMethod::blocking));
}

// A lone operation in flight at a time hides nothing but its own processor's time.
TEST(PlanBulk, PredictsFewInFlight) {
  BulkRequest request = phase();
  request.compute_s = request.lead_s = 0;
  const double many_s = predicted(request, BulkMethod::both);
  request.in_flight = 1;
  EXPECT_GT(predicted(request, BulkMethod::both), many_s);
}

TEST(PlanBulk, TakesAnotherMethodOnlyIfItIsSurelyFaster) {
  const CompiledPath path = example_path();
  for (const uint64_t count : {1U, 40U, 1000U}) {
    for (const uint64_t bytes : {8U, 4096U, 1U << 20}) {
      BulkRequest request = phase();
      request.puts = request.gets = count;
      request.put_bytes = request.get_bytes = bytes;
      BulkRecord record;
      const BulkPlan plan = plan_bulk(request, &path, record);
      EXPECT_EQ(plan, plan_bulk(request, &path));
      EXPECT_EQ(record.alternatives.size(), 4U);
      EXPECT_EQ(plan.baseline_s, predict_bulk(request, path, BulkMethod::blocking));
      EXPECT_EQ(plan.predicted_s, predict_bulk(request, path, plan.method));
      if (plan.method == BulkMethod::blocking) continue;
      EXPECT_EQ(plan.reason, Reason::tuned);
      EXPECT_GT(plan.gain_low, path.strip.minimum_gain());
    }
  }
}

TEST(PlanBulk, KnowsHowManyMayBeInFlight) {
  EXPECT_EQ(bulk_in_flight(nullptr), kUsualBulkInFlight);
  const CompiledPath path = example_path();
  const uint32_t known = std::min(path.vis.link(Direction::put).queue_depth(),
                                  path.vis.link(Direction::get).queue_depth());
  EXPECT_EQ(bulk_in_flight(&path),
            known == std::numeric_limits<uint32_t>::max() ? kUsualBulkInFlight : known);
}

// The same path of a model with these measurements of bulk copies.
CompiledPath path_with(const model::BulkModel& bulk) {
  model::TunedModel model = model::example_model();
  model.pack = model::example_pack();
  model.bulk = bulk;
  return {model, *model.network.find("inter-node")};
}

model::BulkModel measured() {
  model::BulkModel bulk;
  bulk.copies = {{1024, model::example_parameter(1e-6)}, {65536, model::example_parameter(16e-6)}};
  return bulk;
}

TEST(PlanBulk, TakesCopiesAndLimitsFromTheModel) {
  const BulkCosts costs(measured());
  EXPECT_NEAR(costs.copy_s(1024, cost::Corner::nominal), 1e-6, 1e-15);
  EXPECT_NEAR(costs.copy_s(65536, cost::Corner::nominal), 16e-6, 1e-15);
  // No less than the smallest that was measured, and per byte beyond the largest.
  EXPECT_NEAR(costs.copy_s(8, cost::Corner::nominal), 1e-6, 1e-15);
  EXPECT_NEAR(costs.copy_s(131072, cost::Corner::nominal), 32e-6, 1e-15);
  EXPECT_GT(costs.copy_s(1024, cost::Corner::high), 1e-6);

  const BulkRequest request = phase();
  const double copied_s = predict_bulk(request, path_with(measured()), BulkMethod::both);
  model::BulkModel slow = measured();
  for (model::BulkCopyPoint& point : slow.copies) point.copy_s.value *= 100;
  EXPECT_GT(predict_bulk(request, path_with(slow), BulkMethod::both), copied_s);

  // What is compared takes time where puts are in flight.
  model::BulkModel checks = measured();
  checks.check_s = model::example_parameter(1e-6);
  const CompiledPath checking = path_with(checks);
  const auto beyond = [&](BulkMethod method) {
    return predict_bulk(request, checking, method) -
           predict_bulk(request, path_with(measured()), method);
  };
  EXPECT_NEAR(beyond(BulkMethod::blocking), 0, 1e-15);
  EXPECT_NEAR(beyond(BulkMethod::gets), 0, 1e-15);
  EXPECT_GT(beyond(BulkMethod::puts), 0);

  // Gets beyond the limit are waited for by whatever method.
  model::BulkModel limited = measured();
  limited.max_get_bytes = request.get_bytes;
  EXPECT_EQ(max_bulk_get_bytes(nullptr), BulkCosts::kUnlimited);
  const CompiledPath at_limit = path_with(limited);
  EXPECT_EQ(max_bulk_get_bytes(&at_limit), request.get_bytes);
  EXPECT_LT(predict_bulk(request, at_limit, BulkMethod::gets),
            predict_bulk(request, at_limit, BulkMethod::blocking));
  limited.max_get_bytes = request.get_bytes - 1;
  const CompiledPath below = path_with(limited);
  EXPECT_EQ(predict_bulk(request, below, BulkMethod::gets),
            predict_bulk(request, below, BulkMethod::blocking));
  limited.in_flight = 48;
  const CompiledPath counted = path_with(limited);
  EXPECT_EQ(bulk_in_flight(&counted), 48U);
}

TEST(BulkMechanism, RefusesWhatIsNotPossible) {
  EXPECT_TRUE(BulkMechanism::request_of(phase()).ok());
  EXPECT_FALSE(BulkMechanism::request_of({}).ok());
  BulkRequest request = phase();
  request.lead_s = 2 * request.compute_s;
  EXPECT_FALSE(BulkMechanism::request_of(request).ok());
}

}  // namespace
}  // namespace stripline::plan
