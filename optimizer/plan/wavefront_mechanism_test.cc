#include "optimizer/plan/wavefront_mechanism.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "optimizer/plan/strip_fixture.h"

namespace stripline::plan {
namespace {

Explained<WavefrontMechanism> explain(const WavefrontRequest& request, const StripCosts* costs) {
  return plan::explain<WavefrontMechanism>(request, costs);
}

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

TEST(WavefrontMechanism, DecidesAsPlanningDoes) {
  RandomCases draw(7);
  int tuned = 0;
  int unsure = 0;
  int simple = 0;
  for (int i = 0; i < 400; ++i) {
    const StripCosts costs = costs_of(draw.network(draw.log_uniform(0.001, 0.5)));
    const WavefrontRequest request = random_request(draw);
    const WavefrontPlan plan = plan_wavefront(request, &costs);
    const auto e = explain(request, &costs);
    ASSERT_EQ(e.decision, plan);
    ASSERT_FALSE(e.alternatives.empty());
    EXPECT_EQ(e.record.alternatives.front().candidate, 1U);
    EXPECT_EQ(e.alternatives.front().predicted_s, plan.baseline_s);
    bool shown = false;
    double best_s = plan.baseline_s;
    for (const auto& [pieces, predicted_s] : e.record.alternatives) {
      EXPECT_LE(pieces, request.lines);
      EXPECT_EQ(predicted_s, predict_wavefront(request, costs, pieces).sweep_s);
      best_s = std::min(best_s, predicted_s);
      if (pieces != plan.pieces) continue;
      shown = true;
      EXPECT_EQ(predicted_s, plan.predicted_s);
    }
    for (const Explanation::Alternative& a : e.alternatives) {
      EXPECT_LE(a.interval->low_s, a.predicted_s);
      EXPECT_GE(a.interval->high_s, a.predicted_s);
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

TEST(WavefrontMechanism, ShowsWhichParametersMatter) {
  model::TunedModel m = model::example_model();
  const auto loss = [&](Source source, double compute_s) {
    const StripCosts costs = costs_of(m);
    const auto e = explain(stage_of(compute_s), &costs);
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
    const auto e = explain(request, &costs);
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

TEST(WavefrontMechanism, TextNamesPlanReasonAlternativesAndParameters) {
  const StripCosts costs = sure_costs();
  WavefrontRequest request = stage_of(1e-4);
  request.surroundings.nic_ranks = 2;
  const std::string text = to_text(explain(request, &costs));
  for (const char* part :
       {"sweep of 80 stages, each of 64 lines of 320 B and 100.0 us of computation, ",
        "multipartition, 2 ranks sharing a NIC\nplan: ", " pieces of ", ", predicted ",
        ", one piece ", "\nwhy: gains ", "more than 2 % is required",
        "    1 piece of 20 KiB: ", "  * ", "    64 pieces of 320 B: ", ", F ", ", B ",
        "    strip overhead: ", "    20 KiB: o ", "    8 B: o ", "of the flag that follows",
        "    overhead per piece "}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  }
  request.surroundings.flag_with_data = true;
  request.all_busy = false;
  const std::string chain = to_text(explain(request, &costs));
  EXPECT_NE(chain.find(", pipeline, "), std::string::npos) << chain;
  EXPECT_NE(chain.find("flags travel with their data"), std::string::npos) << chain;
  EXPECT_EQ(chain.find("    8 B: o "), std::string::npos) << chain;
}

TEST(WavefrontMechanism, SaysWhyAStageStaysInOnePiece) {
  const StripCosts costs = sure_costs();
  const auto nothing_to_hide = explain(stage_of(10), &costs);
  EXPECT_EQ(nothing_to_hide.decision.pieces, 1U);
  WavefrontRequest one_line = stage_of(1e-4);
  one_line.lines = 1;
  const std::string text = to_text(explain(one_line, &costs));
  EXPECT_NE(text.find("plan: 1 piece of "), std::string::npos) << text;
  EXPECT_NE(text.find("no alternative is predicted to be faster than one piece"),
            std::string::npos);
  EXPECT_EQ(text.find("the gain may be smaller"), std::string::npos) << text;
  const auto without = explain(stage_of(1e-4), nullptr);
  EXPECT_FALSE(without.has_times);
  EXPECT_NE(to_text(without).find("why: the model does not hold puts"), std::string::npos);
  EXPECT_EQ(to_json(without)["plan"]["reason"], "no_model");
  EXPECT_FALSE(to_json(without).contains("alternatives"));
}

TEST(WavefrontMechanism, JsonHoldsTheSamePlan) {
  const StripCosts costs = sure_costs();
  const auto e = explain(stage_of(1e-4), &costs);
  const Json json = to_json(e);
  EXPECT_EQ(json["plan"]["pieces"], e.decision.pieces);
  EXPECT_EQ(json["plan"]["predicted_s"], e.decision.predicted_s);
  EXPECT_EQ(json["alternatives"].size(), e.alternatives.size());
  EXPECT_EQ(json["alternatives"][0]["piece_bytes"], 20480);
  EXPECT_EQ(json["compute_s"], 1e-4);
  EXPECT_EQ(json["stages"], 80);
  EXPECT_EQ(json["entries"].size(), 3U);
}

}  // namespace
}  // namespace stripline::plan
