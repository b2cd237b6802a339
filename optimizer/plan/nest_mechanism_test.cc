#include "optimizer/plan/nest_mechanism.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "optimizer/plan/nest_fixture.h"

namespace stripline::plan {
namespace {

using access::Mode;

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  }
}

// One implementation: the best of what is shown is what a run would do.
TEST(NestMechanism, ShowsWhatIsChosenAmongAllThatWasConsidered) {
  RandomCases draw(41);
  int tuned = 0;
  int with_regions = 0;
  for (int i = 0; i < 200; ++i) {
    const Network network(draw.network(0.05));
    NestRequest request = random_nest(draw, network);
    if (draw.below(3) == 0) {  // every other element
      for (int64_t& stride : request.nest.reference[0].stride_bytes) stride *= 2;
    }
    if (draw.below(3) == 0) request.max_buffer_bytes = uint64_t{8192} << draw.below(8);
    const NestPlan plan = plan_nest(request);
    const auto e = explain(request);
    ASSERT_EQ(e.decision.obstacle.has_value(), plan.obstacle.has_value());
    if (plan.obstacle) continue;
    EXPECT_EQ(e.decision.predicted_s, plan.predicted_s);
    EXPECT_EQ(e.decision.schedule, plan.schedule);
    EXPECT_EQ(e.decision.steps, plan.steps);
    ASSERT_FALSE(e.alternatives.empty());
    EXPECT_EQ(e.record.alternatives.front().candidate.schedule, Schedule::vectorised);
    EXPECT_EQ(e.alternatives.front().predicted_s, plan.baseline_s);
    const auto best =
        std::ranges::min_element(e.alternatives, {}, &Explanation::Alternative::predicted_s);
    for (const auto& p : e.pruned) EXPECT_GE(p.bound_s, best->predicted_s);
    if (plan.reason == Reason::tuned) {
      ++tuned;
      EXPECT_EQ(best->predicted_s, plan.predicted_s);
      EXPECT_EQ(best->plan.json()["steps"], plan.steps);
      EXPECT_EQ(best->plan.json()["window"], plan.window);
      EXPECT_FALSE(e.sensitivities.empty());
    } else if (plan.reason == Reason::below_margin) {
      EXPECT_LT(best->predicted_s, plan.baseline_s);
      EXPECT_LE(plan.gain_low, e.minimum_gain);
    } else {
      EXPECT_EQ(plan.reason, Reason::no_faster_plan);
      EXPECT_EQ(best->predicted_s, plan.baseline_s);
    }
    const std::string text = to_text(e);
    EXPECT_NE(text.find("  * "), std::string::npos) << text;
    if (text.find("many regions by") != std::string::npos) ++with_regions;
    const Json json = to_json(e);
    EXPECT_TRUE(canonical_json(json).ok());
    EXPECT_EQ(json["alternatives"].size(), e.alternatives.size());
  }
  EXPECT_GT(tuned, 30);
  EXPECT_GT(with_regions, 5);
}

TEST(NestMechanism, TextNamesReferencesDecisionReasonAndParameters) {
  const Network network(model::example_model());
  expect_parts(to_text(explain(matrix_times_vector(network, 64, 1024))),
               {"nest of 64 x 1024 iterations, computation 1.000 ms (given)",
                "reference 0 reads 8 B at 0 + 8192 i0 + 8 i1 of owner 1, inter-node",
                "reference 1 updates 8 B",
                "plan: schedule A, cut at loop 0 into 16 steps of 4 iterations, buffers ",
                "    reference 0: 16 tiles of 32 KiB, 16 in flight, init level 0, sync level 0, ",
                "    reference 1: 16 tiles of 32 B, 16 in flight, init level 0, sync level 0, ",
                "why: gains ", "more than 2 % is required", "  * schedule A", "vectorised, 1 step",
                ", of a get over inter-node", ", of a put over inter-node", "    G: "});
}

TEST(NestMechanism, ScheduleBIsConsideredWhereItMayBeFaster) {
  const Network network(model::example_model());
  NestRequest request = matrix_times_vector(network, 64, 1024);
  const std::string roomy = to_text(explain(request));
  EXPECT_EQ(roomy.find("schedule B"), std::string::npos) << roomy;
  request.max_buffer_bytes = uint64_t{200} << 10;  // not all steps at once
  expect_parts(to_text(explain(request)), {"plan: schedule B", "  * schedule B"});
}

TEST(NestMechanism, SaysWhyANestIsNotCut) {
  const Network network(model::example_model());
  NestRequest shifted = request_on(network);
  shifted.nest.add_loop(100);
  shifted.nest.add({.mode = Mode::read, .owner = 1, .stride_bytes = {8}});
  shifted.nest.add({.mode = Mode::write, .owner = 1, .base = 8, .stride_bytes = {8}});
  expect_parts(to_text(explain(shifted)),
               {"plan: access by access",
                "why: reference 0 may read what reference 1 has written in an earlier iteration"});
  EXPECT_EQ(to_json(explain(shifted))["obstacle"]["kind"], "dependence");

  NestRequest in_pieces = request_on(network);
  in_pieces.nest.add_loop(8);
  in_pieces.nest.add_loop(4);
  in_pieces.nest.add_loop(1000);
  const std::array<access::Piece, 4> pieces{{{1, 0}, {2, 0}, {3, 0}, {4, 0}}};
  in_pieces.nest.add(
      {.mode = Mode::read, .stride_bytes = {8000, 0, 8}, .pieces = pieces, .piece_loop = 1});
  in_pieces.compute_s = 1e-3;
  expect_parts(to_text(explain(in_pieces)),
               {"of piece i1", "no cut at loop 0: a step would be in several pieces of reference 0",
                "cut at loop 1 into 32 steps of 1 iteration"});
}

TEST(NestMechanism, SaysWhatFollowsWithoutAModelAndInReach) {
  const Network network(model::example_model());
  NestRequest request = matrix_times_vector(network, 10, 10);
  for (NestLink& link : request.links) link.strip = nullptr;
  expect_parts(to_text(explain(request)), {"plan: vectorised", "does not hold an operation"});
  EXPECT_FALSE(to_json(explain(request)).contains("alternatives"));
  request.link = {kLocalLink, kLocalLink};
  request.links[kLocalLink].in_reach = true;
  expect_parts(to_text(explain(request)),
               {"in reach of loads and stores", "why: loads and stores reach the data"});
}

TEST(NestMechanism, DistinguishesMethodsOfTilesFromThoseWithoutAModel) {
  const Network network(model::example_model());
  NestRequest request = request_on(network);
  request.nest.add_loop(128);
  request.nest.add_loop(2);
  request.nest.add({.mode = Mode::read, .owner = 1, .stride_bytes = {512, 8}});
  request.compute_s = 1e-6;
  const NestCandidate whole{Schedule::vectorised, {0, 128}};
  const NestPlan baseline = baseline_of_nest(request);
  const NestPlan tuned = force_nest(request, whole);
  const auto text_of = [&](const NestPlan& plan) {
    Row row;
    NestMechanism::show(request, plan, row);
    return row.text();
  };
  expect_parts(text_of(baseline), {"vectorised, 1 step", "many regions by packed, as without a"});
  EXPECT_EQ(text_of(tuned).find("without a model"), std::string::npos);
  EXPECT_NE(text_of(tuned), text_of(baseline));
  expect_parts(to_text(explain(request)), {"many regions by packed, as without a model: "});
  EXPECT_EQ(NestMechanism::brief(baseline, "").find("many regions"), std::string::npos);
  expect_parts(NestMechanism::brief(tuned, ""), {"blocking, 1 step; many regions by "});
}

TEST(NestMechanism, EstimatesTheComputationFromTheOperations) {
  const Network network(model::example_model());
  NestRequest request = matrix_times_vector(network, 64, 1024);
  request.compute_s = -1;
  request.loop = {1, 0, 2, 0};
  const auto e = explain(request);
  EXPECT_GT(to_json(e)["compute_s"], 0);
  expect_parts(to_text(e), {"(estimated from the operations)", "computation: "});
}

}  // namespace
}  // namespace stripline::plan
