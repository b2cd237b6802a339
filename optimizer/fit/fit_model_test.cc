#include "optimizer/fit/fit_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "optimizer/experiment/catalogue.h"
#include "optimizer/fit/testing/synthetic.h"
#include "optimizer/model/model_json.h"
#include "optimizer/model/validate.h"

namespace stripline::fit {
namespace {

using experiment::SampleSeries;

FitRequest request() {
  FitRequest r;
  r.name = "test";
  r.campaigns = {"campaigns/1"};
  r.fitted_at = "2026-01-01T00:00:00Z";
  return r;
}

SampleSeries compute_series(const char* primitive, int64_t bytes, uint32_t run, double value) {
  SampleSeries series;
  series.point = {"micro.compute", primitive, {{"bytes", bytes}}};
  series.run = run;
  series.values = {value};
  series.verified = true;
  return series;
}

TEST(FitModel, WholeCampaignGivesAValidModelThatSurvivesItsFileForm) {
  auto series = synthesize(example_machine(), full_campaign(), {}, 1);
  for (uint32_t run = 0; run < 6; ++run) {
    series.push_back(compute_series("red_in", 4096, run, 1e-9 * (1.0 + 0.01 * run)));
    series.push_back(compute_series("red_in", 8192, run, 2e-9));
    series.push_back(compute_series("alu", 0, run, 1.3e-9));
  }
  ASSERT_OK_AND_ASSIGN(const auto fit, fit_model(series, request()));
  const model::TunedModel& model = fit.model;
  EXPECT_TRUE(model::validate(model).ok());
  const model::PathModel& path = model.network.at("inter-node");
  ASSERT_TRUE(path.put && path.get && path.am);
  EXPECT_EQ(path.get->segments.size(), 2U);
  ASSERT_TRUE(model.compute.has_value());
  ASSERT_EQ(model.compute->red_in.size(), 2U);
  EXPECT_NEAR(model.compute->red_in[0].seconds_per_element.value, 1.025e-9, 1e-15);
  EXPECT_EQ(model.compute->red_in[0].seconds_per_element.runs, 6U);
  EXPECT_TRUE(model.compute->vec_in.empty());
  EXPECT_EQ(model.domain.min_bytes, 8U);
  EXPECT_EQ(model.domain.max_bytes, 1U << 20);
  EXPECT_EQ(model.provenance.sample_sha256.size(), 64U);
  EXPECT_EQ(model.provenance.fitter_version, kFitterVersion);
  EXPECT_EQ(fit.report.series_used, series.size());
  EXPECT_EQ(fit.report.operations.at("get").breakpoints.size(), 1U);

  ASSERT_OK_AND_ASSIGN(const auto json, model::to_json(model));
  ASSERT_OK_AND_ASSIGN(const auto again, model::parse_model(json.dump(), "test"));
  EXPECT_EQ(*model::content_sha256(again), *model::content_sha256(model));
}

TEST(FitModel, BuffersCostWhatTheyTakeBeyondTheSmallestByRun) {
  auto series = synthesize(example_machine(), full_campaign(), {}, 8);
  const auto received = [](const char* variant, int64_t buffer_bytes, uint32_t run, double value) {
    SampleSeries one;
    one.point = {
        "micro.receive", variant, {{"bytes", int64_t{65536}}, {"buffer_bytes", buffer_bytes}}};
    one.run = run;
    one.values = {value};
    one.verified = true;
    return one;
  };
  constexpr double kBytes = 65536;
  for (uint32_t run = 0; run < 6; ++run) {
    const double get_s = 30e-6 + run * 4e-6;  // runs differ by more than buffers do
    for (const auto& [buffer, beyond, read] : {std::tuple(int64_t{1} << 17, 0.0, 0.1e-9),
                                               {int64_t{1} << 20, 0.0, 0.1e-9},
                                               {int64_t{1} << 24, 0.2e-9, 0.3e-9}}) {
      const double noise = run % 2 == 0 ? 0.99 : 1.01;
      series.push_back(received("get", buffer, run, get_s + beyond * noise * kBytes));
      series.push_back(received("read", buffer, run, read * noise * kBytes));
    }
  }
  ASSERT_OK_AND_ASSIGN(const auto fit, fit_model(series, request()));
  const auto& buffers = fit.model.network.at("inter-node").get->buffers;
  ASSERT_EQ(buffers.size(), 3U);
  EXPECT_EQ(buffers[0].bytes, uint64_t{1} << 17);
  EXPECT_EQ(buffers[0].retire_s_per_byte.value, 0);
  EXPECT_NEAR(buffers[1].retire_s_per_byte.value, 0, 1e-15);
  EXPECT_NEAR(buffers[1].read_s_per_byte.value, 0.1e-9, 1e-14);
  EXPECT_NEAR(buffers[2].retire_s_per_byte.value, 0.2e-9, 1e-14);
  EXPECT_NEAR(buffers[2].read_s_per_byte.value, 0.3e-9, 1e-14);
  EXPECT_EQ(buffers[2].retire_s_per_byte.runs, 6U);
  EXPECT_GT(buffers[2].retire_s_per_byte.ci_low, 0.19e-9);

  std::erase_if(series, [](const SampleSeries& s) { return s.point.variant == "read"; });
  ASSERT_OK_AND_ASSIGN(const auto unread, fit_model(series, request()));
  EXPECT_TRUE(unread.model.network.at("inter-node").get->buffers.empty());
  ASSERT_EQ(unread.report.notes.size(), 3U);
  EXPECT_NE(unread.report.notes[0].find("131072 bytes costs is absent: reading"),
            std::string::npos);
}

TEST(FitModel, StripOverheadIsTheDifferenceOfBothVariantsByRun) {
  auto series = synthesize(example_machine(), full_campaign(), {}, 7);
  const auto loop = [](const char* variant, uint32_t run, double value) {
    SampleSeries one;
    one.point = {
        "micro.strip_overhead", variant, {{"bytes", int64_t{64}}, {"strips", int64_t{32}}}};
    one.run = run;
    one.values = {value};
    one.verified = true;
    return one;
  };
  for (uint32_t run = 0; run < 6; ++run) {
    const double by_hand_s = 40e-6 + run * 5e-6;  // runs differ by more than the overhead
    series.push_back(loop("by_hand", run, by_hand_s));
    series.push_back(loop("engine", run, by_hand_s + 32 * (run % 2 == 0 ? 0.1e-6 : 0.2e-6)));
  }
  series.push_back(loop("engine", 6, 1));  // without its counterpart it says nothing
  ASSERT_OK_AND_ASSIGN(const auto fit, fit_model(series, request()));
  ASSERT_TRUE(fit.model.strip && fit.model.strip->strip_overhead_s);
  const model::Parameter& overhead = *fit.model.strip->strip_overhead_s;
  EXPECT_NEAR(overhead.value, 0.15e-6, 1e-12);
  EXPECT_LT(overhead.ci_low, 0.15e-6);
  EXPECT_GT(overhead.ci_low, 0.08e-6);
  EXPECT_LT(overhead.ci_high, 0.22e-6);
  EXPECT_EQ(overhead.runs, 6U);
}

TEST(FitModel, TheDomainIsThatOfTheFittedOperations) {
  auto series = synthesize(example_machine(), full_campaign(), {}, 11);
  std::erase_if(series, [](const SampleSeries& s) { return s.point.variant == "put"; });
  SampleSeries once;  // a put larger than all else, in one run: there is no put in the model
  once.point = {"micro.latency", "put", {{"bytes", int64_t{1} << 30}}};
  once.values = {1.0};
  once.verified = true;
  series.push_back(once);
  ASSERT_OK_AND_ASSIGN(const auto fit, fit_model(series, request()));
  EXPECT_FALSE(fit.model.network.at("inter-node").put.has_value());
  EXPECT_EQ(fit.model.domain.min_bytes, 8U);
  EXPECT_EQ(fit.model.domain.max_bytes, 1U << 20);
}

TEST(FitModel, OrderOfSeriesDoesNotMatter) {
  auto series = synthesize(example_machine(), full_campaign(), {}, 2);
  const auto first = fit_model(series, request());
  std::mt19937_64 random(1);
  std::shuffle(series.begin(), series.end(), random);
  const auto second = fit_model(series, request());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*model::content_sha256(first->model), *model::content_sha256(second->model));
}

TEST(FitModel, OtherSamplesGiveAnotherHash) {
  auto series = synthesize(example_machine(), full_campaign(), {}, 3);
  const auto first = fit_model(series, request());
  series[0].values[0] *= 1.0000001;
  const auto second = fit_model(series, request());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->model.provenance.sample_sha256, second->model.provenance.sample_sha256);
}

TEST(FitModel, NothingToFitIsAnErrorThatSaysWhy) {
  const auto empty = fit_model({}, request());
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().code(), ErrorCode::failed_precondition);

  SyntheticCampaign one_run = full_campaign();
  one_run.runs = 1;
  const auto single = fit_model(synthesize(example_machine(), one_run, {}, 4), request());
  ASSERT_FALSE(single.ok());
  EXPECT_NE(single.error().message().find("runs"), std::string::npos);

  auto unverified = synthesize(example_machine(), full_campaign(), {}, 5);
  for (SampleSeries& s : unverified) s.verified = false;
  const auto refused = fit_model(unverified, request());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("not verified"), std::string::npos);

  FitRequest nameless = request();
  nameless.name.clear();
  EXPECT_EQ(
      fit_model(synthesize(example_machine(), full_campaign(), {}, 6), nameless).error().code(),
      ErrorCode::invalid_argument);
}

TEST(FitModel, ConstantTimesGiveZeroSlopesNotNonsense) {
  auto series = synthesize(example_machine(), full_campaign(), {}, 7);
  for (SampleSeries& s : series) s.values.assign(s.values.size(), 5e-6);
  ASSERT_OK_AND_ASSIGN(const auto fit, fit_model(series, request()));
  const model::OperationModel& get = *fit.model.network.at("inter-node").get;
  ASSERT_EQ(get.segments.size(), 1U);
  EXPECT_NEAR(get.segments[0].G_s_per_byte->value, 0.0, 1e-18);
}

TEST(FitModel, ZeroTimesDoNotCrash) {
  auto series = synthesize(example_machine(), full_campaign(), {}, 8);
  for (SampleSeries& s : series) s.values.assign(s.values.size(), 0.0);
  ASSERT_OK_AND_ASSIGN(const auto fit, fit_model(series, request()));
  for (const model::Segment& segment : fit.model.network.at("inter-node").get->segments) {
    EXPECT_EQ(segment.L_s->value, 0.0);
    EXPECT_EQ(segment.o_base_s->value, 0.0);
  }
}

TEST(FitModel, BadSeriesAreLeftOutAndNamed) {
  auto series = synthesize(example_machine(), full_campaign(), {}, 9);
  series[3].values[0] = std::numeric_limits<double>::quiet_NaN();
  series[7].values.clear();
  series[11].point.params.clear();
  ASSERT_OK_AND_ASSIGN(const auto fit, fit_model(series, request()));
  EXPECT_EQ(fit.report.rejected.size(), 3U);
  EXPECT_EQ(fit.report.series_used, series.size() - 3);
}

// Random damage: series removed, values scaled by powers of ten, sizes changed. Whatever comes out
// is an error or a valid model.
TEST(FitModel, DamagedCampaignsNeverGiveAnInvalidModel) {
  SyntheticCampaign campaign = full_campaign();
  campaign.runs = 3;
  campaign.reps = 3;
  const auto whole = synthesize(example_machine(), campaign, {}, 10);
  std::mt19937_64 random(10);
  int fitted = 0;
  for (int trial = 0; trial < 60; ++trial) {
    auto series = whole;
    std::shuffle(series.begin(), series.end(), random);
    series.resize(series.size() >> (trial % 9));
    for (SampleSeries& s : series) {
      if (random() % 20 == 0) s.values[0] *= std::pow(10.0, static_cast<int>(random() % 40) - 20);
      if (random() % 20 == 0) s.point.params["bytes"] = static_cast<int64_t>(random() % 100000);
      if (random() % 50 == 0) s.run = static_cast<uint32_t>(random());
    }
    const auto fit = fit_model(series, request());
    if (!fit.ok()) continue;
    ++fitted;
    ASSERT_TRUE(model::to_json(fit->model).ok());
  }
  EXPECT_GE(fitted, 30);
}

// A node's memory beside a network: the same machine with another truth, measured in the same runs.
TEST(FitModel, PathsWithinANodeStandBesideTheNetwork) {
  auto node = example_machine();
  for (TrueOperation& operation : node) {
    for (TrueSegment& s : operation.segments) {
      for (double* cost : {&s.o_base, &s.o_per_byte, &s.L, &s.g, &s.G, &s.r_base, &s.r_per_byte}) {
        *cost *= 0.1;
      }
    }
  }
  auto series = synthesize(example_machine(), full_campaign(), {}, 8);
  const std::size_t of_network = series.size();
  for (SampleSeries one : synthesize(node, full_campaign(), {}, 8)) {
    const std::string& name = one.point.experiment;
    if (name != "micro.latency" && name != "micro.issue" && name != "micro.flood" &&
        name != "micro.overlap") {
      continue;
    }
    one.point.experiment.replace(0, 6, "micro.node_");
    one.point.params[experiment::factor::kSameNode] = std::string("mapped");
    series.push_back(one);
  }
  ASSERT_OK_AND_ASSIGN(const auto both, fit_model(series, request()));
  ASSERT_OK_AND_ASSIGN(const auto alone, fit_model(std::span(series).first(of_network), request()));
  ASSERT_EQ(both.model.network.size(), 2U);
  const auto o_of = [](const model::PathModel& path) {
    return path.get->segments.front().o_base_s->value;
  };
  EXPECT_EQ(o_of(both.model.network.at("inter-node")), o_of(alone.model.network.at("inter-node")));
  EXPECT_NEAR(o_of(both.model.network.at("intra-node")),
              0.1 * o_of(both.model.network.at("inter-node")),
              0.01 * o_of(both.model.network.at("inter-node")));
  EXPECT_EQ(both.report.series_used, series.size());
  EXPECT_TRUE(both.report.operations.contains("intra-node get"));
}

}  // namespace
}  // namespace stripline::fit
