#include "suites/results/robust.h"

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/model/model_json.h"

namespace stripline::suites::results {
namespace {

Json document() { return *model::to_json(model::example_model()); }

TEST(CorruptedModel, IsOneThatCanBeReadWithOtherValues) {
  const Json right = document();
  ASSERT_OK_AND_ASSIGN(const auto wrong, corrupted_model(right, 7, 10));
  ASSERT_OK(model::parse_model(wrong.dump()));
  EXPECT_EQ(wrong["fingerprint"], right["fingerprint"]);

  const Json::json_pointer latency("/network/inter-node/get/segments/0/L_s");
  const Json& before = right[latency];
  const Json& after = wrong[latency];
  const double factor = after["value"].get<double>() / before["value"].get<double>();
  EXPECT_NE(factor, 1);
  EXPECT_GE(factor, 0.1);
  EXPECT_LE(factor, 10);
  for (size_t end : {0, 1}) {
    EXPECT_DOUBLE_EQ(after["ci"][end].get<double>(), factor * before["ci"][end].get<double>());
  }
  EXPECT_EQ(*corrupted_model(right, 7, 10), wrong);
  EXPECT_NE(*corrupted_model(right, 8, 10), wrong);
}

// Gains stay parts of a whole, and queues have room for one.
TEST(CorruptedModel, CanBeReadWhateverTheSeed) {
  model::TunedModel model = model::example_model();
  model.network.at("inter-node").get->queue_depth = model::example_parameter(2);
  const Json right = *model::to_json(model);
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const auto parsed = model::parse_model(corrupted_model(right, seed, 10)->dump());
    ASSERT_TRUE(parsed.ok()) << "seed " << seed << ": " << parsed.error().message();
  }
}

TEST(DisguisedModel, SaysThatItFits) {
  Json other = document();
  other["fingerprint"]["fabric"]["value"] = "another";
  ASSERT_OK_AND_ASSIGN(const auto disguised, disguised_model(document(), other));
  ASSERT_OK_AND_ASSIGN(const auto parsed, model::parse_model(disguised.dump()));
  EXPECT_EQ(parsed.fingerprint.at("fabric").value, "another");
  EXPECT_FALSE(disguised_model(document(), Json::object()).ok());
}

}  // namespace
}  // namespace stripline::suites::results
