#include "optimizer/fit/samples.h"

#include <limits>

#include <gtest/gtest.h>

namespace stripline::fit {
namespace {

using experiment::Params;
using experiment::SampleSeries;

SampleSeries make(const char* experiment, const char* variant, Params params,
                  std::vector<double> values, uint32_t run = 0) {
  SampleSeries series;
  series.point = {experiment, variant, std::move(params)};
  series.run = run;
  series.values = std::move(values);
  series.verified = true;
  return series;
}

TEST(SortSamples, MediansByRunAndPoint) {
  const std::vector<SampleSeries> series{
      make("micro.latency", "get", {{"bytes", int64_t{64}}}, {3, 1, 2}, 4),
      make("micro.latency", "get", {{"bytes", 64.0}}, {9}, 5),
      make("micro.issue", "put", {{"bytes", int64_t{8}}, {"burst", int64_t{16}}}, {5}),
      make("micro.flood", "put", {{"bytes", int64_t{8}}, {"count", int64_t{64}}}, {6}),
      make("micro.overlap", "put", {{"bytes", int64_t{8}}}, {-1e-9}),
      make("micro.compute", "alu", {{"bytes", int64_t{0}}}, {1e-9, 2e-9}),
      make("micro.strip_overhead", "engine", {{"bytes", int64_t{64}}, {"strips", int64_t{32}}}, {7},
           2),
      make("micro.strip_overhead", "by_hand", {{"bytes", int64_t{64}}, {"strips", int64_t{32}}},
           {5, 6, 9}, 2),
      make("micro.receive", "get", {{"bytes", int64_t{64}}, {"buffer_bytes", int64_t{128}}}, {4},
           2),
      make("micro.receive", "read", {{"bytes", int64_t{64}}, {"buffer_bytes", int64_t{128}}}, {3},
           2),
      make("micro.strip_sweep", "A", {}, {1}),
      make("kernel.matvec", "tuned", {}, {1}),
  };
  const SampleTable table(series);
  EXPECT_EQ(table.used(), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(table.rejected().empty());
  const SortedSamples sorted = sort_samples(table);
  const OperationSamples& get = sorted.operations.at("get");
  EXPECT_EQ(get.latency.at(64).at(4), 2.0);
  EXPECT_EQ(get.latency.at(64).at(5), 9.0);
  EXPECT_EQ(get.raw_samples, 4U);
  EXPECT_EQ(across_runs(get.latency.at(64)), 5.5);
  const OperationSamples& put = sorted.operations.at("put");
  EXPECT_EQ(put.issue.at(8).at(16).at(0), 5.0);
  EXPECT_EQ(put.flood.at(8).at(64).at(0), 6.0);
  EXPECT_EQ(put.overlap.at(8).at(0), -1e-9);  // A difference of times may be negative.
  EXPECT_DOUBLE_EQ(sorted.compute.at("alu").at(0).at(0), 1.5e-9);
  EXPECT_EQ(sorted.strip_loops.at(64).at(32).engine.at(2), 7.0);
  EXPECT_EQ(sorted.strip_loops.at(64).at(32).by_hand.at(2), 6.0);
  EXPECT_EQ(sorted.strip_loops_raw, 4U);
  EXPECT_EQ(sorted.receive.at(64).get.at(128).at(2), 4.0);
  EXPECT_EQ(sorted.receive.at(64).read.at(128).at(2), 3.0);
  EXPECT_EQ(sorted.receive.at(64).raw_samples, 2U);
}

TEST(SortSamples, PoolsSeriesOfOneRun) {
  const std::vector<SampleSeries> series{
      make("micro.latency", "get", {{"bytes", int64_t{64}}}, {1, 1, 1}),
      make("micro.latency", "get", {{"bytes", int64_t{64}}}, {5, 5, 5, 5})};
  EXPECT_EQ(sort_samples(SampleTable(series)).operations.at("get").latency.at(64).at(0), 5.0);
}

TEST(SortSamples, NamesWhatItLeavesOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Params bytes{{"bytes", int64_t{64}}};
  std::vector<SampleSeries> series{
      make("micro.latency", "get", bytes, {}),
      make("micro.latency", "get", bytes, {1.0, nan}),
      make("micro.latency", "get", bytes, {1.0, -1.0}),
      make("micro.latency", "get", {}, {1.0}),
      make("micro.latency", "get", {{"bytes", -8.0}}, {1.0}),
      make("micro.latency", "get", {{"bytes", 8.5}}, {1.0}),
      make("micro.latency", "get", {{"bytes", 1e300}}, {1.0}),
      make("micro.latency", "get", {{"bytes", std::string("many")}}, {1.0}),
      make("micro.latency", "scatter", bytes, {1.0}),
      make("micro.issue", "get", bytes, {1.0}),
      make("micro.strip_overhead", "get", {{"bytes", int64_t{8}}, {"strips", int64_t{4}}}, {1.0}),
      make("micro.flood", "get", {{"bytes", int64_t{8}}, {"count", int64_t{0}}}, {1.0}),
      make("micro.latency", "get", bytes, {1.0}),
  };
  series.back().verified = false;
  const SampleTable table(series);
  EXPECT_TRUE(sort_samples(table).operations.empty());
  EXPECT_TRUE(table.used().empty());
  ASSERT_EQ(table.rejected().size(), series.size());
  EXPECT_NE(table.rejected().back().find("not verified"), std::string::npos);
  EXPECT_NE(table.rejected()[1].find("bytes=64"), std::string::npos);
  EXPECT_NE(table.rejected()[3].find("bytes is missing or not a whole number of at least 0"),
            std::string::npos);
}

TEST(SortNodeSamples, AreThoseOfSingleOperationsByPath) {
  std::vector<SampleSeries> series;
  for (const char* path : {"mapped", "cma"}) {
    SampleSeries one;
    one.point = {
        "micro.node_latency", "get", {{"bytes", int64_t{8}}, {"same_node", std::string(path)}}};
    one.values = {path[0] == 'm' ? 1e-7 : 1e-6};
    one.verified = true;
    series.push_back(one);
  }
  SampleSeries network = series[0];
  network.point = {"micro.latency", "get", {{"bytes", int64_t{8}}}};
  network.values = {1e-5};
  series.insert(series.begin(), network);
  SampleSeries wrong = series[1];
  wrong.verified = false;
  series.push_back(wrong);
  const SampleTable table(series);
  EXPECT_EQ(table.used(), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(table.rejected().size(), 1U);
  const SortedSamples of_network = sort_samples(table);
  EXPECT_EQ(across_runs(of_network.operations.at("get").latency.at(8)), 1e-5);
  const auto on_node = sort_node_samples(table);
  ASSERT_EQ(on_node.size(), 2U);
  EXPECT_EQ(across_runs(on_node.at("mapped").operations.at("get").latency.at(8)), 1e-7);
  EXPECT_EQ(across_runs(on_node.at("cma").operations.at("get").latency.at(8)), 1e-6);
}

}  // namespace
}  // namespace stripline::fit
