#include "server/core/campaigns/run_results.h"

#include <gtest/gtest.h>

#include "optimizer/experiment/json.h"
#include "server/core/campaigns/measured_points.h"
#include "server/testing/saboteur.h"
#include "server/testing/store_fixture.h"

namespace stripline::server {
namespace {

experiment::Point put_of(int64_t bytes) { return {"micro.latency", "put", {{"bytes", bytes}}}; }

class RunResultsTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    RunRecord first = run(1, 1);
    first.state = RunState::finished;
    first.fence = 2;
    RunRecord second = run(1, 2);
    second.state = RunState::finished;
    second.fence = 3;
    RunRecord third = run(1, 3);
    third.fence = 4;
    apply({.campaigns = {campaign(1)},
           .runs = {first, second, third},
           .points = {{1, {put_of(8), put_of(16)}}},
           .batches = {measured(first.key, 1, 1, 8, 99), measured(first.key, 2, 1, 8, 1),
                       measured(first.key, 2, 2, 16, 3), measured(second.key, 3, 1, 16, 4),
                       measured(third.key, 4, 1, 8, 99), measured(second.key, 3, 2, 8, 2)}});
    runs_ = *store_->runs(1);
  }

  static BatchRecord measured(const RunKey& key, uint64_t fence, uint64_t seq, int64_t bytes,
                              double value) {
    experiment::SampleSeries series;
    series.point = put_of(bytes);
    series.values = {value, value, value};
    series.timestamps_s = {1, 2, 3};
    series.verified = true;
    BatchRecord record = batch(key, fence, seq);
    record.data = Json::array({experiment::to_json(series)}).dump();
    return record;
  }

  // Medians of both points by run.
  static std::vector<std::map<uint32_t, double>> medians(const campaign::PointTable& table) {
    std::vector<std::map<uint32_t, double>> all;
    for (const auto& point : table.points()) all.push_back(point.medians);
    return all;
  }

  const std::vector<std::map<uint32_t, double>> kMedians = {{{1, 1}, {2, 2}}, {{1, 3}, {2, 4}}};
  std::vector<RunRecord> runs_;
};

TEST_F(RunResultsTest, AreWhatTheSamplesOfFinishedRunsSay) {
  RunResults results(size_t{1} << 20);
  const auto table = results.points_of(*store_, 1, runs_);
  ASSERT_TRUE(table.ok()) << table.error().message();
  EXPECT_EQ(medians(*table), kMedians);
  EXPECT_EQ(medians(*measured_points(*store_, 1, runs_)), kMedians);
}

TEST_F(RunResultsTest, SamplesAreReadOnce) {
  RunResults results(size_t{1} << 20);
  ASSERT_TRUE(results.points_of(*store_, 1, runs_).ok());
  const size_t bytes = results.bytes();
  EXPECT_GT(bytes, 0U);
  Saboteur(path_.parent_path()).run("UPDATE payloads SET data = x'00'");
  EXPECT_FALSE(RunResults(1).points_of(*store_, 1, runs_).ok());
  const auto again = results.points_of(*store_, 1, runs_);
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(medians(*again), kMedians);
  EXPECT_EQ(results.bytes(), bytes);
}

TEST_F(RunResultsTest, WhatIsRememberedIsBounded) {
  const size_t of_a_run = 2 * sizeof(campaign::PointResult);
  RunResults results(of_a_run);
  const auto table = results.points_of(*store_, 1, runs_);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(medians(*table), kMedians) << "what is not remembered is answered";
  EXPECT_EQ(results.bytes(), of_a_run);
}

}  // namespace
}  // namespace stripline::server
