#include "optimizer/experiment/json.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"

namespace stripline::experiment {
namespace {

Assignment example_assignment() {
  Assignment a;
  a.name = "campaigns/7/assignments/1";
  a.fence = std::numeric_limits<uint64_t>::max();
  a.fabric = "emulated:opteron-vapi";
  a.clock = "virtual";
  a.ranks = 4;
  a.run = 3;
  a.seed = uint64_t{1} << 63;
  a.model_json = "{}";
  a.deadline_s = 12.5;
  a.stop_rule.min_reps = 3;
  a.stop_rule.time_budget_s = 0.1;
  a.points = {{"micro.latency", "get", {{"bytes", int64_t{64}}, {"x", 0.1}}},
              {"kernel.matvec", "hand", {{"mode", std::string("cold")}}}};
  return a;
}

SampleSeries example_series() {
  SampleSeries s;
  s.point = {"micro.latency", "get", {{"bytes", int64_t{64}}}};
  s.run = 2;
  s.values = {1e-6, 1.1e-6};
  s.timestamps_s = {0.5, 0.6};
  s.warmup_dropped = 1;
  s.stop_reason = StopReason::converged;
  s.verified = true;
  s.note = "vectorised";
  return s;
}

// Says whether every error that follows from replacing one member says which one.
template <typename Parse>
void expect_refused(Parse parse, Json json, const Json::json_pointer& pointer, const Json& value,
                    const std::string& named) {
  json[pointer] = value;
  const auto result = parse(json);
  ASSERT_FALSE(result.ok()) << pointer.to_string() << " = " << value.dump() << " was accepted";
  EXPECT_EQ(result.error().code(), ErrorCode::data_loss);
  EXPECT_NE(result.error().message().find(named), std::string::npos) << result.error().message();
}

TEST(ExperimentJson, AssignmentRoundTripsThroughText) {
  const Json json = to_json(example_assignment());
  ASSERT_OK_AND_ASSIGN(const auto text, canonical_json(json));
  ASSERT_OK_AND_ASSIGN(const auto parsed, parse_json(text, "assignment"));
  ASSERT_OK_AND_ASSIGN(const auto back, assignment_from_json(parsed));
  EXPECT_EQ(to_json(back), json);
  EXPECT_EQ(back.fence, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(back.seed, uint64_t{1} << 63);
  EXPECT_EQ(back.points, example_assignment().points);
}

TEST(ExperimentJson, SeriesRoundTrips) {
  const Json json = to_json(example_series());
  ASSERT_OK_AND_ASSIGN(const auto back, sample_series_from_json(json));
  EXPECT_EQ(to_json(back), json);
  EXPECT_EQ(back.stop_reason, StopReason::converged);
}

// However it is written, a text is read as its JSON is, or refused as that is.
TEST(ExperimentJson, SeriesAreReadFromTextAsFromJson) {
  const std::string point = R"("point":{"experiment":"e","variant":"v","params":{"bytes":64}})";
  for (const std::string& text : {
           to_json(example_series()).dump(),
           to_json(example_series()).dump(2),
           "{" + point + R"(,"values":[],"timestamps_s":[]})",
           "{" + point + R"(,"values":[0,-0.0,1E-6,1.5e+300,123456789012345678901234567890]})",
           "{" + point + R"(,"values":[1],"note":"\"values\":[2]}","extension":{"values":["x"]}})",
           "{" + point + R"(,"v\u0061lues":[4]})",
           "{" + point + R"(,"values":[5e-324]})",
       }) {
    const auto of_json = sample_series_from_json(Json::parse(text));
    ASSERT_TRUE(of_json.ok()) << text << ": " << of_json.error().message();
    const auto of_text = sample_series_from_text(text);
    ASSERT_TRUE(of_text.ok()) << text << ": " << of_text.error().message();
    EXPECT_EQ(to_json(*of_text), to_json(*of_json)) << text;
  }
  for (const std::string list : {"[1,]",  "[,1]", "[1 2]", "[01]",  "[+1]",    "[.5]",   "[1.]",
                                 "[1e]",  "[-]",  "[inf]", "[nan]", "[1e999]", "[null]", "[\"1\"]",
                                 "[[1]]", "1",    "{}",    "[1",    "[1]]",    "[1]}",   ""}) {
    const auto refused = sample_series_from_text("{" + point + R"(,"values":)" + list + "}");
    ASSERT_FALSE(refused.ok()) << list;
    EXPECT_EQ(refused.error().code(), ErrorCode::data_loss) << list;
  }
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[]"), "{" + point + "}",
        "{" + point + R"(,"values":[1],"values":[2, 3]})",
        "{" + point + R"(,"values":[1],"v\u0061lues":[2]})",
        "{" + point + R"(,"values":[1,2],"timestamps_s":[1]})",
        "{" + point + R"(,"values":[1],"stop_reason":"tired"})"}) {
    EXPECT_FALSE(sample_series_from_text(text).ok()) << text;
  }
}

TEST(ExperimentJson, DeclarationRoundTrips) {
  Experiment e;
  e.name = "micro.issue";
  e.version = 2;
  e.factors = {{"bytes", "B", "Payload", {int64_t{8}, int64_t{64}}, 1.0, std::nullopt},
               {"mode", "", "", {std::string("cold")}, std::nullopt, std::nullopt}};
  e.variants = {"get"};
  e.metric = {"rate", "B/s", false};
  e.min_ranks = 2;
  e.max_ranks = 8;
  e.rank_count = RankCount::power_of_two;
  e.feeds = {"network.get.o"};
  const Json json = to_json(e);
  ASSERT_OK_AND_ASSIGN(const auto back, experiment_from_json(json));
  EXPECT_EQ(to_json(back), json);
  EXPECT_FALSE(back.factors[0].maximum.has_value());
}

TEST(ExperimentJson, RefusesDeclarationsThatNoPointCanSatisfy) {
  Experiment e;
  e.name = "micro.issue";
  e.factors = {{"bytes", "B", "Payload", {int64_t{8}}, 1.0, 64.0}};
  e.variants = {"get"};
  e.metric = {"time", "s", true};
  const Json json = to_json(e);
  ASSERT_TRUE(experiment_from_json(json).ok());
  using Pointer = Json::json_pointer;
  const auto parse = [](const Json& declaration) { return experiment_from_json(declaration); };
  expect_refused(parse, json, Pointer("/factors/0/maximum"), 0.5, "factors[0].maximum");
  expect_refused(parse, json, Pointer("/factors/0/minimum"), nullptr, "factors[0].minimum");
  expect_refused(parse, json, Pointer("/factors/0/values"), Json::array(), "factors[0].values");
  expect_refused(parse, json, Pointer("/variants"), Json::array(), "experiment.variants");
  expect_refused(parse, json, Pointer("/min_ranks"), 2, "experiment.max_ranks");
  expect_refused(parse, json, Pointer("/rank_count"), "prime", "experiment.rank_count");
  expect_refused(parse, json, Pointer("/metric/unit"), 1, "experiment.metric.unit");
}

TEST(ExperimentJson, MembersWithDefaultsMayBeLeftOut) {
  ASSERT_OK_AND_ASSIGN(
      const auto assignment,
      assignment_from_json(Json{{"name", "a"}, {"fabric", "tcp"}, {"points", Json::array()}}));
  EXPECT_EQ(assignment.clock, "real");
  EXPECT_EQ(assignment.stop_rule.max_reps, StopRule{}.max_reps);
  EXPECT_FALSE(assignment_from_json(Json{{"name", "a"}, {"fabric", "tcp"}}).ok());
  EXPECT_FALSE(assignment_from_json(Json(3)).ok());
}

TEST(ExperimentJson, RefusesWrongKindsAndBoundsByName) {
  using Pointer = Json::json_pointer;
  const Json assignment = to_json(example_assignment());
  const auto parse = [](const Json& json) { return assignment_from_json(json); };
  expect_refused(parse, assignment, Pointer("/fence"), -1, "assignment.fence");
  expect_refused(parse, assignment, Pointer("/ranks"), 0, "assignment.ranks");
  expect_refused(parse, assignment, Pointer("/ranks"), 2.5, "assignment.ranks");
  expect_refused(parse, assignment, Pointer("/clock"), "sundial", "assignment.clock");
  expect_refused(parse, assignment, Pointer("/deadline_s"), -1, "assignment.deadline_s");
  expect_refused(parse, assignment, Pointer("/deadline_s"), nullptr, "assignment.deadline_s");
  expect_refused(parse, assignment, Pointer("/points"), "none", "assignment.points");
  expect_refused(parse, assignment, Pointer("/points/0/params/bytes"), nullptr,
                 "assignment.points[0].params.bytes");
  expect_refused(parse, assignment, Pointer("/points/1"), Json::array(), "assignment.points[1]");
  expect_refused(parse, assignment, Pointer("/stop_rule/max_reps"), 1, "stop_rule.max_reps");
  expect_refused(parse, assignment, Pointer("/stop_rule/confidence"), 1.5, "confidence");

  const Json series = to_json(example_series());
  const auto parse_series = [](const Json& json) { return sample_series_from_json(json); };
  expect_refused(parse_series, series, Pointer("/values/1"), nullptr, "series.values[1]");
  expect_refused(parse_series, series, Pointer("/timestamps_s"), Json::array({1.0}),
                 "series.timestamps_s");
  expect_refused(parse_series, series, Pointer("/stop_reason"), "tired", "series.stop_reason");
  expect_refused(parse_series, series, Pointer("/verified"), 1, "series.verified");
  expect_refused(parse_series, series, Pointer("/point/variant"), 1, "series.point.variant");
}

TEST(ParseParam, ReadsIntegersNumbersAndText) {
  EXPECT_EQ(parse_param("bytes=64")->second, ParamValue(int64_t{64}));
  EXPECT_EQ(parse_param("x=-2")->second, ParamValue(int64_t{-2}));
  EXPECT_EQ(parse_param("x=1e3")->second, ParamValue(1e3));
  EXPECT_EQ(parse_param("x=0.5")->second, ParamValue(0.5));
  EXPECT_EQ(parse_param("x=nan")->second, ParamValue(std::string("nan")));
  EXPECT_EQ(parse_param("x=64k")->second, ParamValue(std::string("64k")));
  EXPECT_EQ(parse_param("x=a=b")->second, ParamValue(std::string("a=b")));
  EXPECT_EQ(parse_param("x=")->second, ParamValue(std::string()));
  EXPECT_EQ(parse_param("x=1")->first, "x");
  EXPECT_FALSE(parse_param("bytes").ok());
  EXPECT_FALSE(parse_param("=3").ok());
}

}  // namespace
}  // namespace stripline::experiment
