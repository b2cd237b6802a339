#include "optimizer/fit/sentinels.h"

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"

namespace stripline::fit {
namespace {

using experiment::Point;

TEST(Sentinels, AreBlockingGetsAndPutsThatTheModelSpeaksOf) {
  const model::TunedModel model = model::example_model();
  const Point get{"micro.latency", "get", {{"bytes", int64_t{4096}}}};
  const auto expected = expected_time(model, get);
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->bytes, 4096U);
  EXPECT_GT(expected->predicted_s, 0);
  EXPECT_LE(expected->low_s, expected->predicted_s);
  EXPECT_GE(expected->high_s, expected->predicted_s);

  EXPECT_FALSE(expected_time(model, {"micro.flood", "get", {{"bytes", int64_t{4096}}}}));
  EXPECT_FALSE(expected_time(model, {"micro.latency", "am", {{"bytes", int64_t{4096}}}}));
  EXPECT_FALSE(expected_time(model, {"micro.latency", "get", {}}));
  EXPECT_FALSE(expected_time(model, {"micro.latency", "get", {{"bytes", int64_t{0}}}}));
  EXPECT_FALSE(expected_time(model::TunedModel(), get));
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
