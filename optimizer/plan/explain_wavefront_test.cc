#include "optimizer/plan/explain_wavefront.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "optimizer/plan/strip_fixture.h"

namespace stripline::plan {
namespace {

WavefrontRequest stage_of(double compute_s) {
  WavefrontRequest request;
  request.lines = 64;
  request.line_bytes = 320;
  request.stages = 80;
  request.compute_s = compute_s;
  return request;
}

// The example model's puts, without a doubt.
StripCosts sure_costs() {
  model::TunedModel m = model::example_model();
  for (model::Segment& segment : m.network.at("inter-node").put->segments) {
    for (auto* parameter : {&segment.o_base_s, &segment.o_per_byte_s, &segment.L_s, &segment.g_s,
                            &segment.G_s_per_byte, &segment.r_base_s, &segment.r_per_byte_s}) {
      if (parameter->has_value())
        (*parameter)->ci_low = (*parameter)->ci_high = (*parameter)->value;
    }
  }
  return costs_of(m);
}

WavefrontRequest random_request(RandomCases& draw) {
  WavefrontRequest request;
  request.lines = 1 + draw.below(200);
  request.line_bytes = 8 * (1 + draw.below(500));
  request.compute_s = draw.log_uniform(1e-7, 1e-2);
  request.stages = static_cast<uint32_t>(1 + draw.below(100));
  request.all_busy = draw.below(2) == 0;
  request.surroundings.nic_ranks = static_cast<uint32_t>(1 + draw.below(4));
  request.surroundings.flag_with_data = draw.below(2) == 0;
  return request;
}

TEST(ExplainWavefront, DecidesAsPlanningDoes) {
  RandomCases draw(7);
  int tuned = 0;
  int unsure = 0;
  int simple = 0;
  for (int i = 0; i < 400; ++i) {
    const StripCosts costs = costs_of(draw.network(draw.log_uniform(0.001, 0.5)));
    const WavefrontRequest request = random_request(draw);
    const WavefrontPlan plan = plan_wavefront(request, &costs);
    const WavefrontExplanation e = explain(request, &costs);
    ASSERT_EQ(e.plan, plan);
    ASSERT_FALSE(e.alternatives.empty());
    EXPECT_EQ(e.alternatives.front().pieces, 1U);
    EXPECT_EQ(e.alternatives.front().time.sweep_s, plan.baseline_s);
    bool shown = false;
    double best_s = plan.baseline_s;
    for (const WavefrontExplanation::Alternative& a : e.alternatives) {
      EXPECT_LE(a.pieces, request.lines);
      EXPECT_EQ(a.time, predict_wavefront(request, costs, a.pieces));
      EXPECT_LE(a.low_s, a.time.sweep_s);
      EXPECT_GE(a.high_s, a.time.sweep_s);
      best_s = std::min(best_s, a.time.sweep_s);
      if (a.pieces != plan.pieces) continue;
      shown = true;
      EXPECT_EQ(a.time.sweep_s, plan.predicted_s);
    }
    EXPECT_TRUE(shown);
    switch (plan.reason) {
      case Reason::tuned:
        ++tuned;
        EXPECT_EQ(best_s, plan.predicted_s);
        break;
      case Reason::below_margin:
        ++unsure;
        EXPECT_LT(best_s, plan.baseline_s);
        break;
      default:
        ++simple;
        EXPECT_EQ(best_s, plan.baseline_s);
    }
    EXPECT_EQ(e.sensitivities.empty(), plan.reason == Reason::no_faster_plan);
    for (const Sensitivity& s : e.sensitivities) EXPECT_GE(s.gain_loss, 0);
    EXPECT_TRUE(canonical_json(to_json(e)).ok());
  }
  EXPECT_GT(tuned, 50);
  EXPECT_GT(unsure, 10);
  EXPECT_GT(simple, 20);
}

TEST(ExplainWavefront, ShowsWhichParametersMatter) {
  model::TunedModel m = model::example_model();
  const auto loss = [&](Source source, double compute_s) {
    const StripCosts costs = costs_of(m);
    const WavefrontExplanation e = explain(stage_of(compute_s), &costs);
    const auto found = std::ranges::find(e.sensitivities, source, &Sensitivity::source);
    EXPECT_NE(found, e.sensitivities.end());
    return found == e.sensitivities.end() ? -1 : found->gain_loss;
  };
  // What there is to gain is the latency.
  const double narrow = loss(Source::latency, 1e-4);
  for (model::Segment& segment : m.network.at("inter-node").put->segments) {
    segment.L_s->ci_low = 0;
  }
  EXPECT_GT(loss(Source::latency, 1e-4), 2 * narrow);
  EXPECT_GT(loss(Source::latency, 1e-4), loss(Source::gap, 1e-4));
  // Only where calls serve pieces, and not surely.
  for (const bool served : {false, true}) {
    WavefrontRequest request = stage_of(1e-4);
    request.surroundings.target_polls_only = served;
    const StripCosts costs = costs_of(m);
    const WavefrontExplanation e = explain(request, &costs);
    EXPECT_EQ(std::ranges::count(e.sensitivities, Source::serve, &Sensitivity::source),
              served ? 1 : 0);
    EXPECT_EQ(to_text(e).find("targets only poll") != std::string::npos, served);
    EXPECT_EQ(to_json(e)["entries"][0].contains("s_s"), served);
  }
  const StripCosts sure = sure_costs();
  for (const auto& s : explain(stage_of(1e-4), &sure).sensitivities) {
    if (s.source == Source::overhead) continue;
    EXPECT_EQ(s.gain_loss, 0) << to_string(s.source);
  }
}

TEST(ExplainWavefront, TextNamesPlanReasonAlternativesAndParameters) {
  const StripCosts costs = sure_costs();
  WavefrontRequest request = stage_of(1e-4);
  request.surroundings.nic_ranks = 2;
  const std::string text = to_text(explain(request, &costs));
  for (const char* part :
       {"stage of 64 lines of 320 B, 20 KiB in all, computation 100.0 us\n",
        "\nsweep of 80 stages, every rank has a part of each, 2 ranks sharing a NIC, ",
        "flags follow their data\nplan: ", " pieces, sweep predicted ", ", in one piece ",
        "\nwhy: gains ", "more than 2 % is required", "    1 piece of 20 KiB: ", "  * ",
        "    64 pieces of 320 B: ", ", F ", ", B ", "    strip overhead: ", "    20 KiB: o ",
        "    8 B: o ", "    overhead per piece "}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  }
  request.surroundings.flag_with_data = true;
  request.all_busy = false;
  const std::string chain = to_text(explain(request, &costs));
  EXPECT_NE(chain.find("each is another rank's"), std::string::npos) << chain;
  EXPECT_NE(chain.find("flags travel with their data"), std::string::npos) << chain;
  EXPECT_EQ(chain.find("    8 B: o "), std::string::npos) << chain;
}

TEST(ExplainWavefront, SaysWhyAStageStaysInOnePiece) {
  const StripCosts costs = sure_costs();
  const WavefrontExplanation nothing_to_hide = explain(stage_of(10), &costs);
  EXPECT_EQ(nothing_to_hide.plan.pieces, 1U);
  WavefrontRequest one_line = stage_of(1e-4);
  one_line.lines = 1;
  const std::string text = to_text(explain(one_line, &costs));
  EXPECT_NE(text.find("plan: 1 piece,"), std::string::npos) << text;
  EXPECT_NE(text.find("no larger number of pieces is predicted to be faster"), std::string::npos);
  EXPECT_EQ(text.find("the gain may be smaller"), std::string::npos) << text;
  const WavefrontExplanation without = explain(stage_of(1e-4), nullptr);
  EXPECT_FALSE(without.has_model);
  EXPECT_NE(to_text(without).find("why: the model does not hold puts"), std::string::npos);
  EXPECT_EQ(to_json(without)["plan"]["reason"], "no_model");
  EXPECT_FALSE(to_json(without).contains("alternatives"));
}

TEST(ExplainWavefront, JsonHoldsTheSamePlan) {
  const StripCosts costs = sure_costs();
  const WavefrontExplanation e = explain(stage_of(1e-4), &costs);
  const Json json = to_json(e);
  EXPECT_EQ(json["plan"]["pieces"], e.plan.pieces);
  EXPECT_EQ(json["plan"]["predicted_s"], e.plan.predicted_s);
  EXPECT_EQ(json["alternatives"].size(), e.alternatives.size());
  EXPECT_EQ(json["alternatives"][0]["piece_bytes"], 20480);
  EXPECT_EQ(json["compute_s"], 1e-4);
  EXPECT_EQ(json["stages"], 80);
  EXPECT_EQ(json["entries"].size(), 3U);
}

}  // namespace
}  // namespace stripline::plan
