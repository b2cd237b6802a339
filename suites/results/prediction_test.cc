#include "suites/results/prediction.h"

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"
#include "suites/results/overlap.h"

namespace stripline::suites::results {
namespace {

TEST(Prediction, ErrorsAreRelativeToTheMeasuredTime) {
  const auto model = model::example_model();
  const cost::LinkCosts costs(*model.network.at("inter-node").get, cost::Operation::get);
  const double small = costs.blocking(100);
  const double large = costs.blocking(100000);
  // Runs 1 and 3 against 2 and 4: 2 % apart.
  const PredictionErrors errors = prediction_errors(
      costs,
      {{100, {{1, small}, {2, small}, {3, small}, {4, small}}},
       {100000, {{1, large / 0.99}, {2, large / 1.01}, {3, large / 0.99}, {4, large / 1.01}}}});
  EXPECT_EQ(errors.sizes, 2U);
  EXPECT_NEAR(errors.mean, 0.0001 / 2, 1e-6);
  EXPECT_EQ(errors.largest_at_bytes, 100000U);
  EXPECT_NEAR(errors.noise, 0.02 / 2, 1e-4);
}

experiment::SampleSeries series(const char* experiment, int64_t bytes, uint32_t run,
                                std::vector<double> values) {
  experiment::SampleSeries one;
  one.point = {experiment, "get", {{"bytes", bytes}}};
  one.run = run;
  one.values = std::move(values);
  one.verified = true;
  return one;
}

TEST(Overlap, IsWhatComputationHidesOfABlockingTransfer) {
  const auto shares = hidden_share(
      {series("micro.latency", 4096, 1, {10, 10, 30}), series("micro.overlap", 4096, 1, {2, 2, 2}),
       series("micro.latency", 4096, 2, {20}), series("micro.overlap", 4096, 2, {4}),
       series("micro.overlap", 8, 1, {1})},
      "get");
  ASSERT_EQ(shares.size(), 1U) << "8 B has no blocking time";
  EXPECT_DOUBLE_EQ(shares.at(4096), 0.8);
}

}  // namespace
}  // namespace stripline::suites::results
