#include "optimizer/fit/judge_model.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "optimizer/fit/fit_model.h"
#include "optimizer/fit/testing/synthetic.h"
#include "optimizer/model/model_fixture.h"

namespace stripline::fit {
namespace {

using experiment::SampleSeries;

SampleSeries measured(const std::string& name, const std::string& variant, int64_t bytes,
                      double time_s, uint32_t run = 0) {
  SampleSeries series;
  series.point = {name, variant, {{"bytes", bytes}}};
  series.run = run;
  series.values = {time_s};
  series.verified = true;
  return series;
}

std::vector<SampleSeries> campaign_of(double factor) {
  auto series = synthesize(example_machine(), full_campaign(), {0.01, 0.01}, 7);
  for (SampleSeries& one : series) {
    for (double& value : one.values) value *= factor;
  }
  return series;
}

FitRequest request() {
  FitRequest request;
  request.name = "m";
  request.campaigns = {"campaigns/c1"};
  request.fitted_at = "2026-01-01T00:00:00Z";
  request.fingerprint = model::example_model().fingerprint;
  return request;
}

TEST(JudgeModel, PredictsPointsThatItWasNotFittedTo) {
  const auto parts = hold_out(campaign_of(1));
  ASSERT_FALSE(parts.held_out.empty());
  ASSERT_OK_AND_ASSIGN(const auto fitted, fit_model(parts.fitted, request()));
  const Judgement judged = judge_model(fitted.model, parts.held_out, 2);
  EXPECT_GE(judged.points, 6U);
  EXPECT_LT(judged.mean_error, 0.05);
  EXPECT_GE(judged.largest_error, judged.mean_error);
  ASSERT_EQ(judged.times.size(), 2U);
  EXPECT_EQ(judged.times[0].kind, "size of get");
  EXPECT_EQ(judged.times[1].kind, "size of put");
  EXPECT_EQ(judged.times[0].points + judged.times[1].points, judged.points);
  EXPECT_EQ(judged.choices, 0U);
}

TEST(JudgeModel, KindsOfTimesWeighAlikeTogetherToo) {
  Judgement one;
  set_errors({{"burst of get", {0.9}}, {"size of get", {0.1, 0.1, 0.1}}}, one);
  EXPECT_DOUBLE_EQ(one.mean_error, 0.5);
  Judgement other;
  set_errors({{"size of get", {0.2}}, {"size of put", {0.3}}}, other);
  const Judgement both = joined(one, other);
  ASSERT_EQ(both.times.size(), 3U);
  EXPECT_EQ(both.times[0], (TimesJudgement{"burst of get", 1, 0.9}));
  EXPECT_EQ(both.times[1].points, 4U);
  EXPECT_DOUBLE_EQ(both.times[1].mean_error, 0.125);
  EXPECT_DOUBLE_EQ(both.mean_error, (0.9 + 0.125 + 0.3) / 3);
}

TEST(JudgeModel, SeesAnotherMachine) {
  ASSERT_OK_AND_ASSIGN(const auto fitted, fit_model(campaign_of(1), request()));
  EXPECT_NEAR(judge_model(fitted.model, campaign_of(2), 2).mean_error, 0.5, 0.05);
}

TEST(JudgeModel, SentinelsStayWhereTheMachineDoes) {
  ASSERT_OK_AND_ASSIGN(const auto fitted, fit_model(campaign_of(1), request()));
  const SentinelReading same = read_sentinels(fitted.model, campaign_of(1));
  EXPECT_GT(same.points, 10U);
  EXPECT_LT(2 * same.outside, same.points);
  EXPECT_NEAR(same.ratio, 1, 0.05);
  for (const double factor : {0.5, 1.5}) {
    const SentinelReading other = read_sentinels(fitted.model, campaign_of(factor));
    EXPECT_EQ(other.outside, other.points) << factor;
    EXPECT_NEAR(other.ratio, factor, 0.1);
  }
  EXPECT_EQ(read_sentinels(fitted.model, {}), SentinelReading());
}

TEST(JudgeModel, CountsWhatChoicesLose) {
  ASSERT_OK_AND_ASSIGN(const auto fitted, fit_model(campaign_of(1), request()));
  // Two ranks broadcast down a tree where no model says otherwise.
  const std::vector<SampleSeries> series = {
      measured("micro.collective_broadcast", "binomial", 8, 1e-6),
      measured("micro.collective_broadcast", "scatter_allgather", 8, 2e-6),
      measured("micro.collective_broadcast", "binomial", 64, 1.21e-6),
      measured("micro.collective_broadcast", "scatter_allgather", 64, 1e-6)};
  const Judgement judged = judge_model(fitted.model, series, 2);
  EXPECT_EQ(judged.choices, 2U);
  EXPECT_NEAR(judged.mean_regret, 0.1, 1e-9);
  EXPECT_NEAR(judged.worst_regret, 0.21, 1e-9);
}

TEST(HoldOut, KeepsTheEndsAndTakesWholePlaces) {
  std::vector<SampleSeries> series;
  for (int64_t bytes = 8; bytes <= 8 << 10; bytes *= 2) {
    for (uint32_t run = 0; run < 2; ++run) {
      series.push_back(measured("micro.latency", "get", bytes, 1e-6, run));
      series.push_back(measured("micro.latency", "put", bytes, 1e-6, run));
    }
    series.push_back(measured("micro.flood", "get", bytes, 1e-6));
  }
  const auto parts = hold_out(series);
  EXPECT_EQ(parts.fitted.size() + parts.held_out.size(), series.size());
  std::set<double> sizes;
  for (const SampleSeries& one : parts.held_out) {
    EXPECT_EQ(one.point.experiment, "micro.latency");
    sizes.insert(*experiment::number_param(one.point, "bytes"));
  }
  EXPECT_EQ(parts.held_out.size(), sizes.size() * 4);
  EXPECT_GE(sizes.size(), 2U);
  EXPECT_FALSE(sizes.contains(8));
  EXPECT_FALSE(sizes.contains(8 << 10));
  std::ranges::reverse(series);
  EXPECT_EQ(hold_out(series).held_out.size(), parts.held_out.size());
}

TEST(HoldOut, HoldsNothingOutOfVeryLittle) {
  EXPECT_TRUE(hold_out(std::vector{measured("micro.latency", "get", 8, 1e-6),
                                   measured("micro.latency", "get", 16, 1e-6)})
                  .held_out.empty());
}

}  // namespace
}  // namespace stripline::fit
