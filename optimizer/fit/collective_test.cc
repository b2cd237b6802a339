#include "optimizer/fit/collective.h"

#include <gtest/gtest.h>

#include "optimizer/fit/fit_model.h"
#include "optimizer/model/validate.h"

namespace stripline::fit {
namespace {

using experiment::SampleSeries;
using model::CollectiveAlgorithm;

SampleSeries measured(const std::string& experiment, const std::string& variant, int64_t bytes,
                      uint32_t run, double value) {
  SampleSeries series;
  series.point = {experiment, variant, {{"bytes", bytes}}};
  series.run = run;
  series.values = {value, value, value};
  series.verified = true;
  return series;
}

// Six runs, each of which is slow or fast as a whole, with a ripple of `noise` between algorithms.
void measure(std::vector<SampleSeries>& series, const std::string& variant, int64_t bytes,
             double time_s, double noise) {
  for (uint32_t run = 0; run < 6; ++run) {
    const double ripple = (run + variant.size()) % 2 == 0 ? 1 + noise : 1 - noise;
    series.push_back(measured("micro.collective_broadcast", variant, bytes, run,
                              time_s * (1 + 0.3 * run) * ripple));
  }
}

FitRequest request() {
  FitRequest request;
  request.name = "collectives";
  request.fitted_at = "2024-05-01T12:00:00Z";
  request.min_ranks = 2;
  request.max_ranks = 4;
  return request;
}

TEST(FitCollectives, TheSurelyFasterAlgorithmReplacesTheDefault) {
  std::vector<SampleSeries> series;
  // The default is binomial up to 64 KiB. At 64 B it is faster, at 4 KiB slower by 30 %, at 16 KiB
  // slower by less than the noise.
  measure(series, "binomial", 64, 10e-6, 0.01);
  measure(series, "scatter_allgather", 64, 15e-6, 0.01);
  measure(series, "binomial", 4096, 20e-6, 0.01);
  measure(series, "scatter_allgather", 4096, 14e-6, 0.01);
  measure(series, "binomial", 16384, 40e-6, 0.05);
  measure(series, "scatter_allgather", 16384, 39.9e-6, 0.05);
  const auto fit = fit_model(series, request());
  ASSERT_TRUE(fit.ok()) << fit.error().message();
  ASSERT_TRUE(fit->model.collective);
  const auto& rules = fit->model.collective->rules;
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(rules[0].algorithm, CollectiveAlgorithm::binomial);
  EXPECT_FALSE(rules[0].gain);
  EXPECT_EQ(rules[1].algorithm, CollectiveAlgorithm::scatter_allgather);
  ASSERT_TRUE(rules[1].gain);
  EXPECT_NEAR(rules[1].gain->value, 0.3, 1e-3);
  EXPECT_GT(rules[1].gain->ci_low, 0.25);
  EXPECT_LT(rules[1].gain->ci_high, 0.35);
  EXPECT_EQ(rules[1].gain->runs, 6U);
  EXPECT_EQ(rules[1].time_s.samples, 18U);
  EXPECT_NEAR(rules[1].time_s.value, 14e-6 * 1.75, 0.5e-6);
  EXPECT_EQ(rules[2].algorithm, CollectiveAlgorithm::binomial);
  EXPECT_FALSE(rules[2].gain);
  // The ranges meet at the geometric means, and hold for the ranks of the campaign only.
  EXPECT_EQ(rules[0].from_bytes, 0U);
  EXPECT_EQ(rules[0].to_bytes, 512U);
  EXPECT_EQ(rules[1].from_bytes, 512U);
  EXPECT_EQ(rules[1].to_bytes, 8192U);
  EXPECT_EQ(rules[2].to_bytes, model::kMaxBytes);
  EXPECT_EQ(rules[0].min_ranks, 4U);
  EXPECT_EQ(rules[0].max_ranks, 4U);
}

TEST(FitCollectives, WithoutTheDefaultThereIsNoRule) {
  std::vector<SampleSeries> series;
  measure(series, "binomial", 64, 10e-6, 0.01);
  measure(series, "scatter_allgather", 128, 10e-6, 0.01);
  series.push_back(measured("micro.collective_reduce", "binomial", 8, 0, 1e-6));
  series.push_back(measured("micro.collective_reduce", "ring", 8, 0, 1e-6));  // no such algorithm
  series.push_back(measured("micro.collective_telepathy", "ring", 8, 0, 1e-6));  // ignored
  const auto fit = fit_model(series, request());
  ASSERT_TRUE(fit.ok()) << fit.error().message();
  ASSERT_EQ(fit->model.collective->rules.size(), 1U);
  EXPECT_EQ(fit->model.collective->rules[0].bytes, 64U);
  ASSERT_EQ(fit->report.notes.size(), 2U);
  EXPECT_NE(fit->report.notes[0].find("broadcast of 128 bytes has no rule"), std::string::npos);
  EXPECT_NE(fit->report.notes[1].find("reduce of 8 bytes has no rule"), std::string::npos);
  ASSERT_EQ(fit->report.rejected.size(), 1U);
  EXPECT_NE(fit->report.rejected[0].find("variant is unknown"), std::string::npos);
}

}  // namespace
}  // namespace stripline::fit
