#include "optimizer/report/compare_models.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "optimizer/model/example.h"
#include "optimizer/model/model_fixture.h"

namespace stripline::report {
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

TEST(CompareModels, AModelIsEquivalentToItself) {
  const model::TunedModel model = model::example_model();
  const auto comparison = compare_models(model, model);
  ASSERT_TRUE(comparison.ok()) << comparison.error().message();
  EXPECT_TRUE(comparison->facts.empty());
  EXPECT_TRUE(comparison->decisions.empty());
  ASSERT_EQ(comparison->tables.size(), 2U);
  EXPECT_GT(comparison->tables[0].asked, 300U);
  EXPECT_EQ(named(*comparison, kLatency).change, 0.0);
  const auto verdicts = tally(*comparison);
  EXPECT_FALSE(verdicts.contains("FASTER") || verdicts.contains("SLOWER"));
  EXPECT_NE(to_text(*comparison, "a", "b").find("no parameter differs"), std::string::npos);
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
  const auto comparison = compare_models(a, b);
  ASSERT_TRUE(comparison.ok()) << comparison.error().message();
  const ComparedParameter& latency = named(*comparison, kLatency);
  EXPECT_EQ(latency.verdict, "SLOWER");
  EXPECT_NEAR(*latency.change, 19, 1e-9);
  EXPECT_LT(latency.change_low, 19);
  EXPECT_EQ(named(*comparison, "network.inter-node.get.segments[2048].G_s_per_byte").verdict,
            "FASTER");
  EXPECT_EQ(named(*comparison, "network.inter-node.get.segments[0].o_per_byte_s").verdict,
            "INCOMPARABLE");
  EXPECT_EQ(named(*comparison, "network.inter-node.am.queue_depth").verdict, "INCOMPARABLE")
      << "a lower bound alone";
  ASSERT_EQ(comparison->facts.size(), 1U);
  EXPECT_EQ(comparison->facts[0].b, "tcp");
  ASSERT_FALSE(comparison->decisions.empty());
  EXPECT_EQ(comparison->decisions[0].command, "loop");
  EXPECT_NE(comparison->decisions[0].a, comparison->decisions[0].b);
  EXPECT_EQ(comparison->decisions[0].asked.at("bytes").find(','), std::string::npos);

  const Json json = to_json(*comparison);
  EXPECT_EQ(json["decisions"].size(), comparison->decisions.size());
  EXPECT_EQ(json["verdicts"]["SLOWER"], tally(*comparison).at("SLOWER"));
  const std::string text = to_text(*comparison, "m@1", "m@2");
  EXPECT_NE(text.find("m@2 against m@1"), std::string::npos) << text;
  EXPECT_NE(text.find("+1900.0 %"), std::string::npos) << text;
}

TEST(CompareModels, ModelsWithoutACommonPathHaveNoDecisionsToCompare) {
  const model::TunedModel a = model::example_model();
  model::TunedModel b = a;
  b.network.clear();
  b.vis.clear();
  const auto comparison = compare_models(a, b);
  ASSERT_TRUE(comparison.ok()) << comparison.error().message();
  EXPECT_TRUE(comparison->tables.empty());
  EXPECT_NE(to_text(*comparison, "a", "b").find("no path in common"), std::string::npos);
}

}  // namespace
}  // namespace stripline::report
