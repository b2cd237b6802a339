#include "suites/bench/rows.h"

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "suites/registry.h"

namespace stripline::suites::bench {
namespace {

using experiment::Point;
using experiment::SampleSeries;

Point point(const std::string& variant) { return {"micro.latency", variant, {{"bytes", 8}}}; }

SampleSeries series(const std::string& variant, uint32_t run, std::vector<double> values) {
  SampleSeries series;
  series.point = point(variant);
  series.run = run;
  series.values = std::move(values);
  series.verified = true;
  return series;
}

const experiment::Experiment& latency() { return find_benchmark("micro.latency")->declaration; }

TEST(Rows, TheRunIsTheUnitAndRoundsOfARunArePooled) {
  Samples samples({point("get")});
  for (uint32_t run = 1; run <= 7; ++run) {
    samples.add({series("get", run, {run * 1e-6}), series("get", run, {run * 1e-6, 9e-6})});
  }
  EXPECT_FALSE(samples.check());
  const auto row = make_row("get", latency(), *samples.find(point("get")), nullptr);
  ASSERT_TRUE(row.ok());
  EXPECT_DOUBLE_EQ(row->summary.median, 4e-6);
  EXPECT_EQ(row->summary.n_runs, 7u);
  EXPECT_EQ(row->summary.n_samples, 21u);
  EXPECT_LT(row->summary.ci_low, row->summary.ci_high);
}

TEST(Rows, RatiosPairTheRunsThatMeasuredBoth) {
  Samples samples({point("get"), point("put")});
  // Runs differ by a factor of ten; within each, put takes twice as long.
  for (uint32_t run = 1; run <= 4; ++run) {
    const double get = run % 2 == 0 ? 1e-6 : 1e-5;
    samples.add({series("get", run, {get}), series("put", run, {2 * get})});
  }
  samples.add({series("put", 5, {1.0})});
  const auto row =
      make_row("put", latency(), *samples.find(point("put")), samples.find(point("get")));
  ASSERT_TRUE(row.ok());
  ASSERT_TRUE(row->ratio);
  EXPECT_NEAR(row->ratio->value, 2, 1e-9);
  EXPECT_EQ(row->ratio->runs, 4u);
}

TEST(Rows, AFailedVerificationIsNeverANumber) {
  Samples samples({point("get")});
  samples.add({series("get", 1, {1e-6})});
  SampleSeries bad = series("get", 2, {1e-6});
  bad.verified = false;
  bad.note = "verification failed: wrong data";
  samples.add({bad});
  const auto failure = samples.check();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->exit_code, kExitVerification);
  EXPECT_NE(failure->message.find("wrong data"), std::string::npos);
  EXPECT_NE(failure->message.find("micro.latency/get"), std::string::npos);
}

TEST(Rows, APointThatCannotBeMeasuredIsAnErrorOfTheRequest) {
  Samples samples({point("am")});
  SampleSeries none = series("am", 1, {});
  none.note = "not measured: messages carry at most 4096 B";
  samples.add({none});
  const auto failure = samples.check();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->exit_code, kExitUsage);
}

TEST(Rows, OnlyWhatCannotBeMeasuredIsDropped) {
  Samples samples({point("am"), point("get"), point("put")});
  SampleSeries none = series("am", 1, {});
  none.note = "not measured: messages carry at most 4096 B";
  SampleSeries wrong = series("put", 1, {1e-6});
  wrong.verified = false;
  samples.add({none, series("get", 1, {1e-6}), wrong});
  const auto reasons = samples.drop_unmeasurable();
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_NE(reasons.front().find("micro.latency/am"), std::string::npos);
  EXPECT_NE(reasons.front().find("at most 4096 B"), std::string::npos);
  ASSERT_EQ(samples.points().size(), 2u);
  EXPECT_EQ(samples.find(point("am")), nullptr);
  ASSERT_NE(samples.find(point("get")), nullptr);
  EXPECT_EQ(samples.find(point("get"))->point(), point("get"));
  EXPECT_EQ(samples.check()->exit_code, kExitVerification);
}

TEST(Rows, MissingSamplesAreNoticed) {
  const Samples samples({point("get")});
  ASSERT_TRUE(samples.check());
}

TEST(Rows, JsonHasTheFormOfAllResults) {
  Samples samples({point("get"), point("put")});
  for (uint32_t run = 1; run <= 2; ++run) {
    SampleSeries tuned = series("put", run, {2e-6});
    tuned.note = "strips of 4 KiB\nbecause";
    samples.add({series("get", run, {1e-6}), tuned});
  }
  const auto row =
      make_row("put", latency(), *samples.find(point("put")), samples.find(point("get")));
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->explanation, "because");
  const Json json = to_json(*row, "tcp", 2);
  EXPECT_EQ(json["experiment"], "micro.latency");
  EXPECT_EQ(json["variant"], "put");
  EXPECT_EQ(json["fabric"], "tcp");
  EXPECT_EQ(json["ranks"], 2);
  EXPECT_EQ(json["params"], Json({{"bytes", 8}}));
  EXPECT_EQ(json["metric"], "time_per_operation");
  EXPECT_EQ(json["unit"], "s");
  EXPECT_EQ(json["median"], 2e-6);
  EXPECT_TRUE(json["ci_low"].is_number());
  EXPECT_TRUE(json["ci_high"].is_number());
  EXPECT_EQ(json["runs"], 2);
  EXPECT_EQ(json["verified"], true);
  EXPECT_EQ(json["plan"], "strips of 4 KiB");
  EXPECT_EQ(json["ratio"], 2.0);
}

}  // namespace
}  // namespace stripline::suites::bench
