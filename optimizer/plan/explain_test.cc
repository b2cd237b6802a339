#include "optimizer/plan/explain.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "optimizer/plan/explain_text.h"
#include "optimizer/plan/strip_fixture.h"

namespace stripline::plan {
namespace {

StripRequest balanced_request() {
  StripRequest request;
  request.total_bytes = 1 << 20;
  request.compute_s = 1.3e-3;
  return request;
}

TEST(Explain, ShowsThePlanTheAlternativesAndTheEntries) {
  const StripCosts costs = costs_of(model::example_model());
  const Explanation e = explain(balanced_request(), &costs);
  EXPECT_EQ(e.plan, plan_strip(balanced_request(), &costs));
  ASSERT_GE(e.alternatives.size(), 3U);
  for (const Schedule schedule : {Schedule::all_issued, Schedule::pipelined}) {
    EXPECT_TRUE(std::ranges::any_of(e.alternatives, [&](const Explanation::Alternative& a) {
      return a.candidate.schedule == schedule;
    })) << to_string(schedule);
  }
  EXPECT_EQ(e.alternatives.front().candidate.schedule, Schedule::vectorised);
  for (const auto& alternative : e.alternatives) {
    EXPECT_LT(alternative.time.low_s, alternative.time.value_s);
    EXPECT_GT(alternative.time.high_s, alternative.time.value_s);
    EXPECT_GE(alternative.time.value_s, e.plan.predicted_s);
  }
  for (const auto& pruned : e.pruned) EXPECT_GE(pruned.bound_s, e.plan.predicted_s);
  EXPECT_FALSE(e.sensitivities.empty());
  EXPECT_EQ(e.entries.size(), 2U);
  EXPECT_EQ(e.queue_depth, 64U);
  EXPECT_DOUBLE_EQ(e.minimum_gain, 0.02);
}

TEST(Explain, TextNamesDecisionReasonAndParameters) {
  const StripCosts costs = costs_of(model::example_model());
  const std::string text = to_text(explain(balanced_request(), &costs));
  for (const char* part :
       {"get of 1 MiB", "plan: schedule", "and at least", "more than 2 % is required",
        "computation", "  * schedule", "vectorised, 1 x 1 MiB", "queue depth 64", "(given)"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  }
}

// The alternatives show plans that are faster.
TEST(Explain, SaysWhyTheFastestPlanOfGetsFromSeveralRanksIsNotTaken) {
  int passed_over = 0;
  int left_whole = 0;
  const auto check = [&](const StripRequest& request, const StripCosts& costs) {
    const Explanation e = explain(request, &costs);
    if (e.plan.reason != Reason::tuned && e.plan.reason != Reason::no_faster_plan) return;
    const bool fastest = std::ranges::all_of(e.alternatives, [&](const auto& alternative) {
      return alternative.time.value_s >= e.plan.predicted_s;
    });
    const std::string why = to_json(e)["why"];
    ASSERT_EQ(why.find("more under way") == std::string::npos, fastest) << to_text(e);
    if (e.plan.reason == Reason::no_faster_plan) {
      left_whole += fastest ? 0 : 1;
      return;
    }
    passed_over += fastest ? 0 : 1;
    const std::string gain = detail::percent_text(1 - e.plan.predicted_s / e.plan.baseline_s);
    ASSERT_NE(why.find("gains " + gain + ","), std::string::npos) << to_text(e);
    ASSERT_TRUE(e.best);
    ASSERT_EQ(force_strip(request, nullptr, e.best->candidate).strip_bytes, e.plan.strip_bytes);
  };
  RandomCases cases(12);
  for (int i = 0; i < 1000; ++i) {
    const StripCosts costs = costs_of(cases.network(0));
    check(cases.request(), costs);
  }
  // Much has to be gained, and only what has several gets under way gains anything.
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

TEST(Explain, SaysWhatIsTooCloseToCall) {
  const StripCosts costs = costs_of(model::example_model());
  StripRequest request = balanced_request();
  request.compute_s = 1;
  const Explanation e = explain(request, &costs);
  ASSERT_EQ(e.plan.reason, Reason::below_margin);
  ASSERT_TRUE(e.tie);
  const std::string compared = "the loop's guard compares schedule " +
                               std::string(to_string(e.tie->schedule)) + ", " +
                               std::to_string(e.tie->count) + " x ";
  EXPECT_NE(to_text(e).find(compared), std::string::npos) << to_text(e);
  EXPECT_EQ(to_json(e)["tie"]["reason"], "tied");
  EXPECT_EQ(to_json(e)["tie"]["count"], e.tie->count);

  // Also where it is a little slower, so that planning passes it over.
  int slower = 0;
  for (uint64_t bytes = 1024; bytes <= uint64_t{8} << 20; bytes += bytes / 4) {
    StripRequest light;
    light.total_bytes = bytes / 8 * 8;
    light.compute_s = 0;
    const Explanation close = explain(light, &costs);
    if (!close.tie) continue;
    slower += close.tie->predicted_s > close.plan.predicted_s ? 1 : 0;
    EXPECT_TRUE(std::ranges::any_of(close.alternatives, [&](const auto& alternative) {
      return alternative.time.value_s == close.tie->predicted_s;
    })) << to_text(close);
    EXPECT_TRUE(std::ranges::none_of(close.pruned, [&](const auto& pruned) {
      return pruned.strip_bytes == close.tie->strip_bytes;
    })) << to_text(close);
  }
  EXPECT_GT(slower, 0);

  const Explanation sure = explain(balanced_request(), &costs);
  ASSERT_EQ(sure.plan.reason, Reason::tuned);
  EXPECT_FALSE(sure.tie);
  EXPECT_FALSE(to_json(sure).contains("tie"));
}

TEST(Explain, SaysWhatFollowsWithoutAModel) {
  const Explanation e = explain(balanced_request(), nullptr);
  EXPECT_FALSE(e.has_model);
  EXPECT_NE(to_text(e).find("does not hold this operation"), std::string::npos);
  EXPECT_EQ(to_json(e)["plan"]["reason"], "no_model");
  EXPECT_FALSE(to_json(e).contains("alternatives"));
}

TEST(Explain, JsonHoldsFiniteNumbersAndTheSamePlan) {
  const StripCosts costs = costs_of(model::example_model());
  StripRequest estimated = balanced_request();
  estimated.compute_s = -1;
  estimated.loop = {1, 0, 2, 0};
  const Explanation e = explain(estimated, &costs);
  const Json json = to_json(e);
  EXPECT_TRUE(canonical_json(json).ok());
  EXPECT_EQ(json["plan"]["count"], e.plan.count);
  EXPECT_EQ(json["alternatives"].size(), e.alternatives.size());
  EXPECT_LT(json["compute"]["low_s"], json["compute"]["high_s"]);
  EXPECT_NE(to_text(e).find("estimated from the loop class"), std::string::npos);
}

}  // namespace
}  // namespace stripline::plan
