#include "suites/results/campaign.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/json.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/requirements.h"
#include "suites/registry.h"

namespace stripline::suites::results {
namespace {

using experiment::Point;
using experiment::SampleSeries;

const Network kReal{.fabric = "tcp", .clock = "real"};
const Network kVirtual{
    .fabric = "emulated:opteron-vapi,compute=none", .clock = "virtual", .computes = false};

// Also that every point is one that its experiment takes.
std::set<std::string> keys_of(const std::vector<Point>& points) {
  std::set<std::string> keys;
  for (Point point : points) {
    EXPECT_TRUE(keys.insert(experiment::point_key(point)).second) << "twice: " << *keys.rbegin();
    const auto refused =
        experiment::complete_point(find_benchmark(point.experiment)->declaration, point);
    EXPECT_FALSE(refused) << *refused;
  }
  return keys;
}

bool includes(const std::set<std::string>& all, const std::set<std::string>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

bool has_experiment(const std::vector<Point>& points, const std::string& name) {
  return std::any_of(points.begin(), points.end(),
                     [&](const Point& point) { return point.experiment == name; });
}

TEST(CampaignPoints, AreThoseThatFeedAModel) {
  const auto points = campaign_points(kReal, false);
  const auto keys = keys_of(points);
  for (const Benchmark& benchmark : benchmarks()) {
    EXPECT_EQ(has_experiment(points, benchmark.declaration.name),
              !benchmark.declaration.feeds.empty() &&
                  !experiment::requirements_of(benchmark.declaration).same_node &&
                  benchmark.declaration.min_ranks <= 2)
        << benchmark.declaration.name;
  }
  EXPECT_TRUE(includes(keys, keys_of(campaign_points(kReal, true))));
  EXPECT_LT(campaign_points(kReal, true).size(), points.size() / 4);
}

TEST(VisCampaignPoints, AreFewerOfACampaign) {
  const auto all = keys_of(campaign_points(kReal, false));
  const auto points = vis_campaign_points(kReal, false);
  const auto keys = keys_of(points);
  EXPECT_TRUE(includes(all, keys));
  EXPECT_LT(points.size(), all.size() * 2 / 3);
  for (const char* name : {"micro.latency", "micro.issue", "micro.flood", "micro.overlap",
                           "micro.pack", "micro.vis", "micro.vis_chunk", "micro.vis_window"}) {
    EXPECT_TRUE(has_experiment(points, name)) << name;
  }
  EXPECT_FALSE(has_experiment(points, "micro.strip_sweep"));
  EXPECT_LT(vis_campaign_points(kReal, true).size(), points.size());
}

TEST(CampaignPoints, LeaveOutWhatTakesNoTimeOrTooMuch) {
  const auto points = campaign_points(kVirtual, false);
  EXPECT_FALSE(has_experiment(points, "micro.compute"));
  EXPECT_TRUE(includes(keys_of(campaign_points(kReal, false)), keys_of(points)));
  for (const Point& point : points) {
    if (point.experiment != "micro.flood") continue;
    EXPECT_LE(*experiment::number_param(point, "bytes") * *experiment::number_param(point, "count"),
              16 << 20);
  }
}

TEST(HeldOutPoints, AreNotOnTheGrid) {
  const auto held_out = keys_of(held_out_points(false));
  EXPECT_GT(held_out.size(), 60U);
  for (const std::string& key : keys_of(campaign_points(kReal, false))) {
    EXPECT_FALSE(held_out.contains(key)) << key;
  }
  EXPECT_TRUE(includes(held_out, keys_of(held_out_points(true))));
}

SampleSeries series(uint32_t run) {
  SampleSeries one;
  one.point = {"micro.latency", "get", {{"bytes", int64_t{8}}}};
  one.run = run;
  one.values = {1e-6};
  one.timestamps_s = {1};
  one.verified = true;
  return one;
}

TEST(CheckVerified, AWrongResultIsAnErrorOneThatIsMissingIsNot) {
  SampleSeries missing = series(1);
  missing.values.clear();
  missing.verified = false;
  EXPECT_TRUE(check_verified({series(1), missing}).ok());
  SampleSeries wrong = series(1);
  wrong.verified = false;
  const Status checked = check_verified({series(1), wrong});
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(checked.error().message().find("micro.latency/get"), std::string::npos);
}

TEST(FitNetwork, AModelOfComputationAloneIsNone) {
  std::vector<SampleSeries> computing;
  for (uint32_t run = 1; run <= campaign_runs(true); ++run) {
    SampleSeries one = series(run);
    one.point = {"micro.compute", "red_in", {{"bytes", int64_t{4096}}}};
    one.values = {1e-9, 1.1e-9, 1e-9};
    one.timestamps_s = {1, 2, 3};
    computing.push_back(one);
  }
  const auto fitted = fit_network(kReal, computing);
  ASSERT_FALSE(fitted.ok());
  EXPECT_EQ(fitted.error().code(), ErrorCode::failed_precondition);
  EXPECT_NE(fitted.error().message().find("no operation on tcp"), std::string::npos)
      << fitted.error().message();
}

TEST(KeptRuns, AreReadInsteadOfMeasured) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("stripline-campaign-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  Options options;
  options.quick = true;
  options.worker = "/no/worker/is/started";
  for (uint32_t run = 1; run <= campaign_runs(true); ++run) {
    const Json kept = Json::array({experiment::to_json(series(run))});
    ASSERT_TRUE(write_json_file(folder / ("run-" + std::to_string(run) + ".json"), kept).ok());
  }
  const auto all = load_or_measure_runs(options, kVirtual, 1, folder, {});
  ASSERT_TRUE(all.ok()) << all.error().message();
  ASSERT_EQ(all->size(), campaign_runs(true));
  for (uint32_t i = 0; i < all->size(); ++i) EXPECT_EQ((*all)[i].run, i + 1);

  std::ofstream(folder / "run-2.json") << "[{";
  const auto damaged = load_or_measure_runs(options, kVirtual, 1, folder, {});
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().code(), ErrorCode::data_loss);
  EXPECT_NE(damaged.error().message().find("run-2.json"), std::string::npos);

  std::ofstream(folder / "run-2.json") << "{}";
  EXPECT_FALSE(load_or_measure_runs(options, kVirtual, 1, folder, {}).ok()) << "not a list";

  std::filesystem::remove(folder / "run-2.json");
  EXPECT_FALSE(load_or_measure_runs(options, kVirtual, 1, folder, {series(1).point}).ok())
      << "a missing run is measured";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stripline::suites::results
