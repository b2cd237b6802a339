#include "optimizer/fit/sentinels.h"

#include <gtest/gtest.h>

#include "optimizer/fit/judge_model.h"
#include "optimizer/model/model_fixture.h"

namespace stripline::fit {
namespace {

using experiment::Point;
using experiment::SampleSeries;

TEST(Sentinels, AreBlockingGetsAndPutsThatTheModelSpeaksOf) {
  const plan::CompiledModel model(model::example_model());
  const Point get{"micro.latency", "get", {{"bytes", int64_t{4096}}}};
  const auto expected = expected_sentinel(model, get);
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->kind, Sentinel::size);
  EXPECT_EQ(expected->bytes, 4096U);
  EXPECT_GT(expected->predicted_s, 0);
  EXPECT_LE(expected->low_s, expected->predicted_s);
  EXPECT_GE(expected->high_s, expected->predicted_s);

  EXPECT_FALSE(expected_sentinel(model, {"micro.issue", "get", {{"bytes", int64_t{4096}}}}));
  EXPECT_FALSE(expected_sentinel(model, {"micro.latency", "am", {{"bytes", int64_t{4096}}}}));
  EXPECT_FALSE(expected_sentinel(model, {"micro.latency", "get", {}}));
  EXPECT_FALSE(expected_sentinel(model, {"micro.latency", "get", {{"bytes", int64_t{0}}}}));
  EXPECT_FALSE(expected_sentinel(plan::CompiledModel(), get));
}

// 256 operations of 64 bytes.
Point burst() { return {"micro.flood", "get", {{"bytes", int64_t{64}}, {"count", int64_t{256}}}}; }

model::TunedModel with_depth(double depth) {
  model::TunedModel model = model::example_model();
  model.network["inter-node"].get->queue_depth = model::example_parameter(depth, 0);
  return model;
}

TEST(Sentinels, ABurstTellsADepth) {
  const auto deep = expected_sentinel(plan::CompiledModel(with_depth(256)), burst());
  const auto shallow = expected_sentinel(plan::CompiledModel(with_depth(1)), burst());
  ASSERT_TRUE(deep && shallow);
  EXPECT_EQ(deep->kind, Sentinel::burst);
  EXPECT_GT(shallow->predicted_s, 3 * deep->predicted_s);
  EXPECT_FALSE(is_outside(*deep, deep->predicted_s));
  EXPECT_TRUE(is_outside(*shallow, deep->predicted_s));
}

// Where the network has room for two or three operations, streams of puts are as fast as it sends.
TEST(Sentinels, APutLeavesTheQueueWhenItIsSent) {
  model::TunedModel deep = model::example_model();
  deep.network["inter-node"].put->queue_depth = model::example_parameter(256, 0);
  model::TunedModel shallow = deep;
  shallow.network["inter-node"].put->queue_depth = model::example_parameter(3, 0);
  Point puts = burst();
  puts.variant = "put";
  const auto by_deep = expected_sentinel(plan::CompiledModel(deep), puts);
  const auto by_shallow = expected_sentinel(plan::CompiledModel(shallow), puts);
  ASSERT_TRUE(by_deep && by_shallow);
  EXPECT_EQ(by_shallow->predicted_s, by_deep->predicted_s);
}

TEST(Sentinels, ATransferOfManyRegionsTellsAWindow) {
  const Point windowed{"micro.vis_window",
                       "put",
                       {{"region_bytes", int64_t{32}},
                        {"bytes", int64_t{16384}},
                        {"stride", int64_t{2}},
                        {"window", int64_t{32}}}};
  const plan::CompiledModel model(model::full_example());
  const auto expected = expected_sentinel(model, windowed);
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->kind, Sentinel::shape);
  EXPECT_LE(expected->low_s, expected->predicted_s);
  EXPECT_GE(expected->high_s, expected->predicted_s);
  Point packed = windowed;
  packed.experiment = "micro.vis_chunk";
  packed.params["chunk_bytes"] = int64_t{4096};
  packed.params["window"] = int64_t{4};
  const auto in_chunks = expected_sentinel(model, packed);
  ASSERT_TRUE(in_chunks);
  EXPECT_NE(in_chunks->predicted_s, expected->predicted_s);
  packed.params.erase("window");
  EXPECT_FALSE(expected_sentinel(model, packed));
}

TEST(Sentinels, MostOfAKindOutsideIsCounted) {
  SampleSeries one;
  one.point = burst();
  one.verified = true;
  one.values = {expected_sentinel(plan::CompiledModel(with_depth(256)), burst())->predicted_s};
  const SentinelReading good = read_sentinels(with_depth(256), std::vector{one});
  EXPECT_EQ(good.bursts, 1U);
  EXPECT_EQ(good.bursts_outside, 0U);
  EXPECT_EQ(good.points, 0U);
  EXPECT_EQ(read_sentinels(with_depth(1), std::vector{one}).bursts_outside, 1U);
}

TEST(Sentinels, ADaysDifferenceIsNotOutside) {
  const ExpectedTime expected{8, 2e-6, 1e-6, 3e-6};
  for (const double inside_s : {0.91e-6, 1e-6, 2e-6, 3.29e-6}) {
    EXPECT_FALSE(is_outside(expected, inside_s)) << inside_s;
  }
  EXPECT_TRUE(is_outside(expected, 0.89e-6));
  EXPECT_TRUE(is_outside(expected, 3.31e-6));
}

}  // namespace
}  // namespace stripline::fit
