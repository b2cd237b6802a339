#include "server/core/models/fit_job.h"

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "optimizer/model/model_json.h"
#include "server/testing/synthetic_machine.h"

namespace stripline::server {
namespace {

FitInput input_of(uint32_t runs) {
  FitInput input;
  input.campaigns = {1};
  input.spec.fabric = "tcp";
  input.spec.model = "models/tcp";
  input.spec.runs = runs;
  input.spec.ranks = 2;
  input.runs = runs;
  input.fitted_at = "2026-01-01T00:00:00Z";
  input.nodes = {{{1, 1}, 1, "a", {{"cpu.model", "synthetic"}, {"host.boot", "x"}}},
                 {{1, 1}, 1, "b", {{"cpu.model", "synthetic"}, {"host.boot", "y"}}}};
  const SyntheticMachine machine;
  for (uint32_t run = 1; run <= runs; ++run) {
    for (int64_t bytes = 8; bytes <= 1 << 20; bytes *= 4) {
      input.series.push_back(
          measure(machine, {"micro.latency", "get", {{"bytes", bytes}}}, run, run));
    }
  }
  return input;
}

int64_t bytes_of(const experiment::SampleSeries& series) {
  return std::get<int64_t>(series.point.params.at("bytes"));
}

TEST(FitJob, SaysWhatIsMissing) {
  ASSERT_OK_AND_ASSIGN(const auto fitted, fit_campaign(input_of(6)));
  EXPECT_TRUE(fitted.summary.starts_with("6 runs, ")) << fitted.summary;
  EXPECT_NE(fitted.summary.find("get: "), std::string::npos) << fitted.summary;
  EXPECT_NE(fitted.summary.find("no issue bursts were measured"), std::string::npos)
      << fitted.summary;
  EXPECT_EQ(fitted.summary.find("left out"), std::string::npos) << fitted.summary;
}

TEST(FitJob, SaysHowNoisyTheMeasurementsWere) {
  FitInput input = input_of(12);
  ASSERT_OK_AND_ASSIGN(const auto quiet, fit_campaign(input));
  EXPECT_EQ(quiet.summary.find("drifted"), std::string::npos) << quiet.summary;
  EXPECT_NE(quiet.summary.find("of the variance lies between runs"), std::string::npos)
      << quiet.summary;
  for (experiment::SampleSeries& series : input.series) {
    for (double& value : series.values) value *= 1 + 0.02 * series.run;
  }
  ASSERT_OK_AND_ASSIGN(const auto drifting, fit_campaign(input));
  EXPECT_NE(drifting.summary.find("times drifted by +2"), std::string::npos) << drifting.summary;
}

TEST(FitJob, AModelOfFewerRunsIsProvisional) {
  EXPECT_EQ(fit_campaign(input_of(6))->provisional, "");
  ASSERT_OK_AND_ASSIGN(const auto fitted, fit_campaign(input_of(3)));
  EXPECT_NE(fitted.provisional.find("of 3 runs instead of 6"), std::string::npos)
      << fitted.provisional;
  ASSERT_OK_AND_ASSIGN(const auto model, model::parse_model(fitted.content, "the model"));
  EXPECT_EQ(model.provenance.provisional, fitted.provisional);
}

TEST(FitJob, SaysHowMuchOfThePlanWasMeasured) {
  FitInput input = input_of(8);
  input.planned_points = 12;
  ASSERT_OK_AND_ASSIGN(const auto most, fit_campaign(input));
  EXPECT_NE(most.summary.find(", 9 of 12 points measured by 6 runs or more"), std::string::npos)
      << most.summary;
  EXPECT_EQ(most.provisional, "");

  // What this fabric cannot measure was not left out for want of time.
  for (int64_t bytes = 1; bytes <= 3; ++bytes) {
    experiment::SampleSeries none;
    none.point = {"micro.vis", "native_iov", {{"bytes", bytes}}};
    none.run = 1;
    none.verified = true;
    input.series.push_back(none);
  }
  EXPECT_NE(fit_campaign(input)->summary.find(", 9 of 9 points"), std::string::npos);

  input.planned_points = 1577;
  ASSERT_OK_AND_ASSIGN(const auto few, fit_campaign(input));
  EXPECT_EQ(few.provisional,
            "9 of 1574 points measured by 6 runs or more: the time budget was too small for the "
            "others");
}

// Each of these is a reason not to give it to those who ask for the model alone.
TEST(FitJob, WhatIsDoubtfulMakesAModelProvisional) {
  const auto reasons = [](const FitInput& input) {
    const auto fitted = fit_campaign(input);
    EXPECT_TRUE(fitted.ok()) << fitted.error().message();
    return fitted.ok() ? fitted->provisional : "";
  };
  FitInput cut_short = input_of(7);
  cut_short.spec.runs = 12;
  EXPECT_EQ(reasons(cut_short), "of 7 of its 12 runs: the time budget was used up");

  FitInput drifting = input_of(12);
  for (experiment::SampleSeries& series : drifting.series) {
    for (double& value : series.values) value *= 1 + 0.02 * series.run;
  }
  EXPECT_TRUE(reasons(drifting).starts_with("times drifted by +2")) << reasons(drifting);

  for (experiment::SampleSeries& series : drifting.series) {
    for (double& value : series.values) value *= 1 + 0.15 * series.run;
  }
  EXPECT_TRUE(reasons(drifting).starts_with("times drifted by +")) << reasons(drifting);
  EXPECT_EQ(reasons(drifting).find("e+0"), std::string::npos) << reasons(drifting);

  FitInput wrong = input_of(7);
  wrong.series.front().verified = false;
  EXPECT_EQ(reasons(wrong), "1 series failed verification");

  FitInput on_one_host = input_of(8);
  on_one_host.nodes[1].facts["host.boot"] = "x";
  EXPECT_EQ(reasons(on_one_host), "nodes/a and nodes/b are one host");
  on_one_host.nodes[1].run.run = 2;  // they never met
  EXPECT_EQ(reasons(on_one_host), "");
}

TEST(FitJob, SaysWhatWasLeftOutAndThatANodeMoved) {
  FitInput input = input_of(6);
  input.spec.left_out["micro.am"] = "rank 1 on nodes/b died";
  input.nodes.push_back(input.nodes[0]);
  input.nodes.back().run.run = 2;
  input.nodes.back().facts["host.boot"] = "z";
  ASSERT_OK_AND_ASSIGN(const auto fitted, fit_campaign(input));
  const auto message_of = [&](const std::string& kind, const std::string& subject) {
    for (const Finding& finding : fitted.findings) {
      if (finding.kind == kind && finding.subject == subject) return finding.message;
    }
    return std::string();
  };
  EXPECT_EQ(message_of("LEFT_OUT", "micro.am"),
            "micro.am was not measured to its end: rank 1 on nodes/b died");
  EXPECT_NE(message_of("HOST_CHANGED", "nodes/a").find("2 hosts"), std::string::npos);
  EXPECT_EQ(message_of("HOST_CHANGED", "nodes/b"), "");
}

TEST(FitJob, ParametersComeFromSixVerifiedRunsOrNone) {
  FitInput input = input_of(6);
  for (experiment::SampleSeries& series : input.series) {
    if (bytes_of(series) < 1 << 17) continue;
    if (series.run == 3) series.verified = false;  // five runs are left
  }
  ASSERT_OK_AND_ASSIGN(const auto fitted, fit_campaign(input));
  EXPECT_NE(fitted.summary.find("10 series left out because fewer than 6"), std::string::npos)
      << fitted.summary;
  EXPECT_NE(fitted.summary.find("2 series failed verification"), std::string::npos)
      << fitted.summary;
  ASSERT_OK_AND_ASSIGN(const auto model, model::parse_model(fitted.content, "the model"));
  EXPECT_LT(model.domain.max_bytes, uint64_t{1} << 17);
}

TEST(FitJob, PointsThatTheFabricCannotMeasureAreNoFailures) {
  FitInput input = input_of(6);
  for (experiment::SampleSeries& series : input.series) {
    if (bytes_of(series) < 1 << 17) continue;
    series.verified = false;
    series.values.clear();
    series.timestamps_s.clear();
  }
  ASSERT_OK_AND_ASSIGN(const auto fitted, fit_campaign(input));
  EXPECT_EQ(fitted.summary.find("failed verification"), std::string::npos) << fitted.summary;
  EXPECT_EQ(fitted.summary.find("left out"), std::string::npos) << fitted.summary;
}

}  // namespace
}  // namespace stripline::server
