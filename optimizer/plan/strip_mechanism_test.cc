#include "optimizer/plan/strip_mechanism.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "optimizer/plan/strip_fixture.h"

namespace stripline::plan {
namespace {

Explained<StripMechanism> explain(const StripRequest& request, const StripCosts* costs) {
  return plan::explain<StripMechanism>(request, costs);
}

StripRequest balanced_request() {
  StripRequest request;
  request.total_bytes = 1 << 20;
  request.compute_s = 1.3e-3;
  return request;
}

TEST(StripMechanism, ShowsThePlanTheAlternativesAndTheEntries) {
  const StripCosts costs = costs_of(model::example_model());
  const auto e = explain(balanced_request(), &costs);
  EXPECT_EQ(e.decision, plan_strip(balanced_request(), &costs));
  ASSERT_GE(e.alternatives.size(), 3U);
  for (const Schedule schedule : {Schedule::all_issued, Schedule::pipelined}) {
    EXPECT_TRUE(std::ranges::any_of(e.record.alternatives, [&](const auto& a) {
      return a.candidate.schedule == schedule;
    })) << to_string(schedule);
  }
  EXPECT_EQ(e.record.alternatives.front().candidate.schedule, Schedule::vectorised);
  for (const auto& alternative : e.alternatives) {
    ASSERT_TRUE(alternative.interval);
    EXPECT_LT(alternative.interval->low_s, alternative.predicted_s);
    EXPECT_GT(alternative.interval->high_s, alternative.predicted_s);
    EXPECT_GE(alternative.predicted_s, e.decision.predicted_s);
  }
  for (const auto& pruned : e.pruned) EXPECT_GE(pruned.bound_s, e.decision.predicted_s);
  EXPECT_FALSE(e.sensitivities.empty());
  EXPECT_EQ(e.entries.size(), 2U);
  EXPECT_EQ(to_json(e)["queue_depth"], 64U);
  EXPECT_DOUBLE_EQ(e.minimum_gain, 0.02);
}

TEST(StripMechanism, TextNamesDecisionReasonAndParameters) {
  const StripCosts costs = costs_of(model::example_model());
  const std::string text = to_text(explain(balanced_request(), &costs));
  for (const char* part :
       {"get of 1 MiB", "plan: schedule", "and at least", "more than 2 % is required",
        ", computation 1.300 ms", "  * schedule", "vectorised, 1 x 1 MiB", "queue depth 64"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  }
}

// The alternatives show plans that are faster.
TEST(StripMechanism, SaysWhyTheFastestPlanOfGetsFromSeveralRanksIsNotTaken) {
  int passed_over = 0;
  int left_whole = 0;
  const auto check = [&](const StripRequest& request, const StripCosts& costs) {
    const auto e = explain(request, &costs);
    if (e.decision.reason != Reason::tuned && e.decision.reason != Reason::no_faster_plan) return;
    const bool fastest = std::ranges::all_of(e.alternatives, [&](const auto& alternative) {
      return alternative.predicted_s >= e.decision.predicted_s;
    });
    const std::string why = to_json(e)["why"];
    ASSERT_EQ(why.find("more in flight") == std::string::npos, fastest) << to_text(e);
    if (e.decision.reason == Reason::no_faster_plan) {
      left_whole += fastest ? 0 : 1;
      return;
    }
    passed_over += fastest ? 0 : 1;
    const std::string gain = percent_text(1 - e.decision.predicted_s / e.decision.baseline_s);
    ASSERT_NE(why.find("gains " + gain + ","), std::string::npos) << to_text(e);
    ASSERT_TRUE(e.record.best);
    ASSERT_EQ(force_strip(request, nullptr, e.record.best->candidate).strip_bytes,
              e.decision.strip_bytes);
  };
  RandomCases cases(12);
  for (int i = 0; i < 1000; ++i) {
    const StripCosts costs = costs_of(cases.network(0));
    check(cases.request(), costs);
  }
  // Much has to be gained, and only what has several gets in flight gains anything.
  for (const double margin : {0.1, 0.4, 0.9}) {
    model::TunedModel demanding = model::example_model();
    demanding.strip->minimum_gain = model::example_parameter(margin);
    const StripCosts costs = costs_of(demanding);
    for (uint64_t block = 64; block <= 1 << 20; block += block / 8) {
      StripRequest request;
      request.blocks = request.peers = 4;
      request.total_bytes = 4 * (block / 8 * 8);
      for (const bool uneven : {false, true}) {
        request.uneven = uneven;
        for (request.compute_s = 1e-9; request.compute_s < 1; request.compute_s *= 4) {
          check(request, costs);
        }
      }
    }
  }
  EXPECT_GT(passed_over, 0);
  EXPECT_GT(left_whole, 0);
}

TEST(StripMechanism, SaysWhatIsTooCloseToCall) {
  const StripCosts costs = costs_of(model::example_model());
  StripRequest request = balanced_request();
  request.compute_s = 1;
  const auto e = explain(request, &costs);
  ASSERT_EQ(e.decision.reason, Reason::below_margin);
  const auto tie = tie_of_strip(request, &costs);
  ASSERT_TRUE(tie);
  const std::string compared = "the loop's guard compares schedule " +
                               std::string(to_string(tie->schedule)) + ", " +
                               std::to_string(tie->count) + " x ";
  EXPECT_NE(to_text(e).find(compared), std::string::npos) << to_text(e);
  EXPECT_EQ(to_json(e)["tie"]["reason"], "tied");
  EXPECT_EQ(to_json(e)["tie"]["count"], tie->count);

  // Also where it is a little slower, so that planning passes it over.
  int slower = 0;
  for (uint64_t bytes = 1024; bytes <= uint64_t{8} << 20; bytes += bytes / 4) {
    StripRequest light;
    light.total_bytes = bytes / 8 * 8;
    light.compute_s = 0;
    const auto close = explain(light, &costs);
    const auto tied = tie_of_strip(light, &costs);
    if (close.decision.reason == Reason::tuned || !tied) continue;
    slower += tied->predicted_s > close.decision.predicted_s ? 1 : 0;
    EXPECT_TRUE(std::ranges::any_of(close.alternatives, [&](const auto& alternative) {
      return alternative.predicted_s == tied->predicted_s;
    })) << to_text(close);
    EXPECT_TRUE(std::ranges::none_of(close.pruned, [&](const auto& pruned) {
      return pruned.what.json()["strip_bytes"] == tied->strip_bytes;
    })) << to_text(close);
  }
  EXPECT_GT(slower, 0);

  const auto sure = explain(balanced_request(), &costs);
  ASSERT_EQ(sure.decision.reason, Reason::tuned);
  EXPECT_FALSE(to_json(sure).contains("tie"));
}

// What is predicted to take 1900 times as long.
TEST(StripMechanism, LargePercentagesHaveNoExponent) {
  EXPECT_EQ(percent_text(-1899), "-189900 %");
  EXPECT_EQ(percent_text(9.999), "1000 %");
  EXPECT_EQ(percent_text(0.01234), "1.23 %");
}

TEST(StripMechanism, SaysWhatFollowsWithoutAModel) {
  const auto e = explain(balanced_request(), nullptr);
  EXPECT_FALSE(e.has_times);
  EXPECT_NE(to_text(e).find("does not hold this operation"), std::string::npos);
  EXPECT_EQ(to_json(e)["plan"]["reason"], "no_model");
  EXPECT_FALSE(to_json(e).contains("alternatives"));
}

TEST(StripMechanism, JsonHoldsFiniteNumbersAndTheSamePlan) {
  const StripCosts costs = costs_of(model::example_model());
  StripRequest estimated = balanced_request();
  estimated.compute_s = -1;
  estimated.loop = {1, 0, 2, 0};
  const auto e = explain(estimated, &costs);
  const Json json = to_json(e);
  EXPECT_TRUE(canonical_json(json).ok());
  EXPECT_EQ(json["plan"]["count"], e.decision.count);
  EXPECT_EQ(json["alternatives"].size(), e.alternatives.size());
  EXPECT_LT(json["compute"]["low_s"], json["compute"]["high_s"]);
  EXPECT_NE(to_text(e).find("estimated from the loop class"), std::string::npos);
}

}  // namespace
}  // namespace stripline::plan
