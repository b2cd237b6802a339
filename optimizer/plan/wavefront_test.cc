#include "optimizer/plan/wavefront.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"

namespace stripline::plan {
namespace {

// `serve_s`: what serving a put costs, however small it is.
StripCosts costs_of(double width = 0, double serve_s = 0.5e-6) {
  model::PathModel path = model::example_model().network.at("inter-node");
  for (model::Segment& segment : path.put->segments) {
    segment.s_base_s = model::example_parameter(serve_s);
    for (auto* parameter : {&segment.L_s, &segment.G_s_per_byte}) {
      if (!parameter->has_value()) continue;
      (*parameter)->ci_low = (*parameter)->value * (1 - width);
      (*parameter)->ci_high = (*parameter)->value * (1 + width);
    }
  }
  return {path, std::nullopt, std::nullopt};
}

WavefrontRequest request_of(double compute_s) {
  WavefrontRequest request;
  request.lines = 64;
  request.line_bytes = 80;
  request.compute_s = compute_s;
  return request;
}

// When the last stage of a sweep ends, event by event: rank r is as far as its predecessor, so what
// arrives there is what one left oneself. The network takes no time between messages. Where calls
// serve, a rank serves a piece before it goes through it, while it waits for it if it has to.
double swept_s(const WavefrontRequest& request, const StripCosts& costs, uint32_t pieces) {
  const double bytes = static_cast<double>(request.lines * request.line_bytes) / pieces;
  const cost::MessageCosts& put = costs.put().at(static_cast<uint64_t>(bytes));
  std::vector<double> arrived(pieces, 0);
  double now = 0;
  for (uint32_t stage = 0; stage < request.stages; ++stage) {
    if (!request.all_busy) now = 0;  // another rank, which has been waiting
    for (double& piece : arrived) {
      if (request.surroundings.target_polls_only && stage > 0) now += put.s(bytes);
      now = std::max(now, piece) + request.compute_s / pieces + put.o(bytes);
      piece = now + put.L + put.G * bytes;
      now += put.r(bytes);
    }
  }
  return now;
}

TEST(PlanWavefront, WithoutAModelItIsOnePiece) {
  const WavefrontPlan plan = plan_wavefront(request_of(1e-3), nullptr);
  EXPECT_EQ(plan.pieces, 1U);
  EXPECT_EQ(plan.reason, Reason::no_model);
}

TEST(PlanWavefront, PredictsSweeps) {
  const StripCosts costs = costs_of();
  WavefrontRequest request = request_of(0);
  request.surroundings.flag_with_data = true;
  int compared = 0;
  for (const double compute_s : {1e-6, 1e-5, 1e-4}) {
    request.compute_s = compute_s;
    for (const uint32_t stages : {1U, 2U, 3U, 20U}) {
      request.stages = stages;
      for (const auto& [all_busy, served] :
           {std::pair(false, false), {false, true}, {true, false}, {true, true}}) {
        request.all_busy = all_busy;
        request.surroundings.target_polls_only = served;
        for (const uint32_t pieces : {1U, 2U, 4U, 16U}) {
          const auto bytes = static_cast<uint64_t>(64.0 * 80 / pieces);
          if (pieces * costs.put().gap(bytes) > compute_s) continue;
          const double predicted_s = predict_wavefront(request, costs, pieces).sweep_s;
          // While it waits for a piece, a rank retires for nothing.
          const double slack_s = stages * pieces * costs.put().r(bytes);
          EXPECT_NEAR(swept_s(request, costs, pieces), predicted_s, 0.01 * predicted_s + slack_s)
              << compute_s << " s, " << stages << " stages in " << pieces << ", " << all_busy
              << served;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 80);
}

TEST(PlanWavefront, TwoPiecesHideALatencyThatIsShorterThanHalfTheStage) {
  const StripCosts costs = costs_of();
  WavefrontRequest request = request_of(0);
  request.surroundings.flag_with_data = true;
  const double latency = costs.put().L(2560) + costs.put().at(2560).G * 2560;
  request.stages = 50;
  request.compute_s = 4 * latency;
  const WavefrontPlan plan = plan_wavefront(request, &costs);
  EXPECT_EQ(plan.reason, Reason::tuned);
  EXPECT_EQ(plan.pieces, 2U);
  EXPECT_LT(plan.predicted_s, plan.baseline_s);
  EXPECT_GT(plan.gain_low, costs.minimum_gain());
  // A stage of a thousand latencies has nothing to hide.
  request.compute_s = 1000 * latency;
  EXPECT_EQ(plan_wavefront(request, &costs).pieces, 1U);
}

// Where ranks wait for the front, what it does at each of them counts.
TEST(PlanWavefront, LongChainsWantSmallPieces) {
  const StripCosts costs = costs_of();
  WavefrontRequest request = request_of(1e-4);
  request.surroundings.flag_with_data = true;
  request.all_busy = false;
  uint32_t before = 0;
  for (const uint32_t stages : {1U, 2U, 9U, 65U}) {
    request.stages = stages;
    const WavefrontPlan plan = plan_wavefront(request, &costs);
    EXPECT_GE(plan.pieces, before) << stages;
    before = plan.pieces;
  }
  EXPECT_GT(before, 4U);
}

TEST(PlanWavefront, ChoosesTheFastestOfItsPredictions) {
  const StripCosts costs = costs_of();
  for (const double compute_s : {0.0, 1e-6, 1e-5, 1e-4, 1e-3}) {
    for (const bool all_busy : {false, true}) {
      WavefrontRequest request = request_of(compute_s);
      request.stages = 4;
      request.all_busy = all_busy;
      const WavefrontPlan plan = plan_wavefront(request, &costs);
      for (const uint32_t pieces : {1U, 2U, 3U, 8U, 64U}) {
        if (plan.reason == Reason::below_margin) continue;
        EXPECT_LE(plan.predicted_s,
                  predict_wavefront(request, costs, pieces).sweep_s * (1 + 1e-12));
      }
      EXPECT_EQ(plan.pieces > 1, plan.reason == Reason::tuned);
    }
  }
}

TEST(PlanWavefront, HasNoMorePiecesThanLines) {
  const StripCosts costs = costs_of();
  WavefrontRequest request = request_of(1e-3);
  request.stages = 1000;
  request.all_busy = false;
  request.lines = 5;
  EXPECT_EQ(plan_wavefront(request, &costs).pieces, 4U);
  request.lines = 1;
  EXPECT_EQ(plan_wavefront(request, &costs).pieces, 1U);
}

TEST(PlanWavefront, AFlagThatFollowsCostsTime) {
  const StripCosts costs = costs_of();
  WavefrontRequest request = request_of(1e-5);
  const double follows = predict_wavefront(request, costs, 2).sweep_s;
  request.surroundings.flag_with_data = true;
  EXPECT_LT(predict_wavefront(request, costs, 2).sweep_s, follows);
}

// Each piece that comes takes of a rank that is busy; one that waits for it serves it meanwhile.
TEST(PlanWavefront, WhatServingAPieceCostsMakesPiecesLarger) {
  StripCosts costs = costs_of();
  WavefrontRequest request = request_of(1e-3);
  request.surroundings.flag_with_data = true;
  request.stages = 10;
  const auto sweep_s = [&](uint32_t pieces) {
    return predict_wavefront(request, costs, pieces).sweep_s;
  };
  const auto serving_s = [&](uint32_t pieces) {
    request.surroundings.target_polls_only = false;
    const double alone_s = sweep_s(pieces);
    request.surroundings.target_polls_only = true;
    return (sweep_s(pieces) - alone_s) / costs.put().at(5120 / pieces).s(5120.0 / pieces);
  };
  EXPECT_NEAR(serving_s(4), 9 * 4, 1e-6);
  EXPECT_NEAR(serving_s(1), 0, 1e-6) << "a stage in one piece is waited for";
  request.all_busy = false;
  EXPECT_NEAR(serving_s(4), 3, 1e-6) << "of the last stage; the others wait for the front";
  request.all_busy = true;
  request.compute_s = 1e-4;
  const uint32_t cheap = plan_wavefront(request, &costs).pieces;
  costs = costs_of(0, 40e-6);
  const WavefrontPlan dear = plan_wavefront(request, &costs);
  EXPECT_LT(dear.pieces, cheap);
  request.surroundings.target_polls_only = false;
  EXPECT_EQ(plan_wavefront(request, &costs).pieces, cheap);
}

TEST(PlanWavefront, DoesNotPromiseMoreThanIsPredicted) {
  const StripCosts costs = costs_of(0.1);
  WavefrontRequest request = request_of(0);
  request.surroundings.flag_with_data = true;
  request.line_bytes = 8;
  int tuned = 0;
  for (const double compute_s : {1e-6, 1e-5, 1e-4, 1e-3}) {
    request.compute_s = compute_s;
    for (const uint32_t stages : {2U, 10U, 50U, 1000U}) {
      request.stages = stages;
      const WavefrontPlan plan = plan_wavefront(request, &costs);
      if (plan.reason != Reason::tuned) continue;
      ++tuned;
      EXPECT_LE(plan.gain_low, 1 - plan.predicted_s / plan.baseline_s)
          << compute_s << " s, " << stages << " stages";
    }
  }
  EXPECT_GT(tuned, 4);
}

// The gain is the latency: where that may be nearly none, one piece it is.
TEST(PlanWavefront, WideIntervalsSpeakForOnePiece) {
  WavefrontRequest request = request_of(0);
  request.surroundings.flag_with_data = true;
  const StripCosts sure = costs_of();
  request.stages = 50;
  request.line_bytes = 1;
  request.compute_s = 10 * sure.put().L(request.lines);
  ASSERT_EQ(plan_wavefront(request, &sure).reason, Reason::tuned);
  const StripCosts unsure = costs_of(1.0);
  EXPECT_EQ(plan_wavefront(request, &unsure).reason, Reason::below_margin);
  EXPECT_EQ(plan_wavefront(request, &unsure).pieces, 1U);
}

}  // namespace
}  // namespace stripline::plan
