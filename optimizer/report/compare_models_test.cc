#include "optimizer/report/compare_models.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "base/testing/assert_ok.h"
#include "optimizer/model/example.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/model/model_json.h"
#include "optimizer/report/decision_tables.h"

namespace stripline::reports {
namespace {

const ComparedParameter& named(const ModelComparison& comparison, const std::string& name) {
  const auto found = std::ranges::find(comparison.parameters, name, &ComparedParameter::name);
  EXPECT_NE(found, comparison.parameters.end()) << name;
  return *found;
}

constexpr const char* kLatency = "network.inter-node.get.segments[2048].L_s";

void scale(model::Parameter& parameter, double by) {
  parameter.value *= by;
  parameter.ci_low *= by;
  parameter.ci_high *= by;
}

// What another campaign of the same network would have fitted: each parameter with 95 % certainty
// somewhere in the other's interval, with an interval as wide.
void redraw(Json& value, std::mt19937_64& random) {
  if (value.is_object() && value.contains("value") && value.contains("ci")) {
    if (value.value("at_least", false)) return;
    constexpr double kSides = 2 * 1.96;
    const double low = value["ci"][0];
    const double high = value["ci"][1];
    const double of = value["value"];
    std::normal_distribution<double> error(0, (high - low) / kSides);
    const double moved = std::max(of / 2, of + error(random));
    value["value"] = moved;
    value["ci"] = {std::max(low + moved - of, 0.0), high + moved - of};
    return;
  }
  if (!value.is_structured()) return;
  for (Json& inner : value) redraw(inner, random);
}

model::TunedModel redrawn(const model::TunedModel& model, std::mt19937_64& random) {
  Json document = *model::to_json(model);
  redraw(document, random);
  document.erase("sha256");
  document["sha256"] = sha256_hex(*canonical_json(document));
  auto parsed = model::parse_model(document.dump());
  EXPECT_TRUE(parsed.ok()) << parsed.error().message();
  return *std::move(parsed);
}

TEST(CompareModels, AModelIsEquivalentToItself) {
  const model::TunedModel model = model::example_model();
  ASSERT_OK_AND_ASSIGN(const auto comparison, compare_models(model, model));
  EXPECT_TRUE(comparison.facts.empty());
  EXPECT_TRUE(comparison.decisions.empty());
  ASSERT_EQ(comparison.tables.size(), decision_tables().size());
  EXPECT_GT(comparison.tables[0].asked, 300U);
  for (const ComparedTable& table : comparison.tables) EXPECT_GT(table.asked, 40U) << table.command;
  EXPECT_EQ(named(comparison, kLatency).change, 0.0);
  const auto verdicts = tally(comparison);
  EXPECT_FALSE(verdicts.contains("FASTER") || verdicts.contains("SLOWER"));
  EXPECT_NE(to_text(comparison, "a", "b").find("no parameter differs"), std::string::npos);
}

TEST(CompareModels, SaysWhichParametersMachinesAndDecisionsDiffer) {
  const model::TunedModel a = model::example_model();
  model::TunedModel b = a;
  for (model::Segment& segment : b.network.at("inter-node").get->segments) {
    scale(*segment.L_s, 20);
    scale(*segment.G_s_per_byte, 0.5);
  }
  b.network.at("inter-node").get->segments[0].o_per_byte_s.reset();
  b.fingerprint["fabric"].value = "tcp";
  ASSERT_OK_AND_ASSIGN(const auto comparison, compare_models(a, b));
  const ComparedParameter& latency = named(comparison, kLatency);
  EXPECT_EQ(latency.verdict, "SLOWER");
  EXPECT_NEAR(*latency.change, 19, 1e-9);
  EXPECT_LT(latency.change_low, 19);
  EXPECT_EQ(named(comparison, "network.inter-node.get.segments[2048].G_s_per_byte").verdict,
            "FASTER");
  EXPECT_EQ(named(comparison, "network.inter-node.get.segments[0].o_per_byte_s").verdict,
            "INCOMPARABLE");
  EXPECT_EQ(named(comparison, "network.inter-node.get.segments[0].o_per_byte_s").why,
            "only the baseline has it");
  ASSERT_EQ(comparison.facts.size(), 1U);
  EXPECT_EQ(comparison.facts[0].b, "tcp");
  ASSERT_FALSE(comparison.decisions.empty());
  EXPECT_EQ(comparison.decisions[0].command, "loop");
  EXPECT_NE(comparison.decisions[0].a, comparison.decisions[0].b);
  EXPECT_EQ(comparison.decisions[0].asked.at("bytes").find(','), std::string::npos);

  const Json json = to_json(comparison);
  EXPECT_EQ(json["decisions"].size(), comparison.decisions.size());
  EXPECT_EQ(json["verdicts"]["SLOWER"], tally(comparison).at("SLOWER"));
  const std::string text = to_text(comparison, "m@1", "m@2");
  EXPECT_NE(text.find("m@2 against m@1"), std::string::npos) << text;
  EXPECT_NE(text.find("+1900.0 %"), std::string::npos) << text;
}

// "at least 256" of both is the same; 64 is surely less than that, and 512 may be the same.
TEST(CompareModels, ABoundIsComparedWithABoundAndWithAValue) {
  const auto compared = [](model::Parameter of_a, model::Parameter of_b) {
    model::TunedModel a = model::example_model();
    model::TunedModel b = a;

    a.network.at("inter-node").am->queue_depth = of_a;
    b.network.at("inter-node").am->queue_depth = of_b;
    const auto comparison = compare_models(a, b);
    EXPECT_TRUE(comparison.ok()) << comparison.error().message();
    return named(*comparison, "network.inter-node.am.queue_depth").verdict;
  };
  const auto bound = [](double value) {
    return model::Parameter{.value = value,
                            .ci_low = value,
                            .ci_high = value,
                            .runs = 8,
                            .samples = 8,
                            .method = "test",
                            .at_least = true};
  };
  const auto depth = [](double value) {
    return model::Parameter{.value = value,
                            .ci_low = value - 1,
                            .ci_high = value + 1,
                            .runs = 8,
                            .samples = 8,
                            .method = "test"};
  };
  EXPECT_EQ(compared(bound(256), bound(256)), "EQUIVALENT");
  EXPECT_EQ(compared(bound(1), bound(256)), "INCONCLUSIVE");
  EXPECT_EQ(compared(bound(256), depth(64)), "SMALLER");
  EXPECT_EQ(compared(depth(64), bound(256)), "LARGER");
  EXPECT_EQ(compared(bound(256), depth(512)), "INCONCLUSIVE");
}

// How often that is tried. Each pair asks for thousands of decisions by the same code, which
// sanitizers make many times slower.
constexpr int kPairs = 10;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kPairsHere = 2;
#else
constexpr int kPairsHere = kPairs;
#endif

// Two models of one network whose campaigns scattered as their intervals say.
TEST(CompareModels, EqualModelsContradictEachOtherNowhere) {
  std::mt19937_64 random(17);
  size_t asked = 0;
  size_t doubts = 0;
  size_t ties = 0;
  for (int pair = 0; pair < kPairsHere; ++pair) {
    const model::TunedModel a = redrawn(model::example_model(), random);
    const model::TunedModel b = redrawn(model::example_model(), random);
    ASSERT_OK_AND_ASSIGN(const auto comparison, compare_models(a, b));
    for (const ComparedTable& table : comparison.tables) {
      EXPECT_EQ(table.differ, 0U) << to_text(comparison, "a", "b");
      asked += table.asked;
      doubts += table.doubts;
      ties += table.ties;
    }
    for (const ComparedDecision& one : comparison.decisions) {
      EXPECT_TRUE(one.by_a && one.by_b) << one.command;
    }
  }
  if (kPairsHere < kPairs) return;  // too few to count
  EXPECT_LT(doubts, asked / 100);
  EXPECT_GT(ties, 0U) << "nothing was decided otherwise, so that nothing was tried";
}

TEST(CompareModels, ModelsWithoutACommonPathHaveNoDecisionsToCompare) {
  const model::TunedModel a = model::example_model();
  model::TunedModel b = a;
  b.network.clear();
  b.vis.clear();
  ASSERT_OK_AND_ASSIGN(const auto comparison, compare_models(a, b));
  EXPECT_TRUE(comparison.tables.empty());
  EXPECT_NE(to_text(comparison, "a", "b").find("no path in common"), std::string::npos);
}

}  // namespace
}  // namespace stripline::reports
