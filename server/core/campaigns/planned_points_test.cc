#include "server/core/campaigns/planned_points.h"

#include <gtest/gtest.h>

#include "optimizer/experiment/json.h"
#include "optimizer/experiment/tuning.h"

namespace stripline::server {
namespace {

experiment::SampleSeries series(int64_t bytes) {
  experiment::SampleSeries one;
  one.point = {"kernel.loop", "tuned", {{"bytes", bytes}}};
  return one;
}

std::string plan() {
  experiment::Assignment assignment;
  assignment.name = "campaigns/c1/runs/1";
  assignment.fabric = "tcp";
  for (const int64_t bytes : {8, 16, 32}) assignment.points.push_back(series(bytes).point);
  return experiment::to_json(assignment).dump();
}

TEST(PlannedPoints, FindsThePlacesOfPoints) {
  const auto planned = PlannedPoints::read(plan(), 2);
  ASSERT_TRUE(planned.ok()) << planned.error().message();
  EXPECT_EQ(planned->size(), 2U);
  EXPECT_EQ(*planned->find({series(16), series(8)}), (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(planned->find({series(32)}).error().message(),
            "samples of kernel.loop/tuned?bytes=32, which is not in the run's plan");
  EXPECT_EQ(planned->find({series(8), series(8)}).error().message(),
            "samples of kernel.loop/tuned?bytes=8 twice");
  EXPECT_FALSE(PlannedPoints::read("{", 2).ok());
}

TEST(PlannedPoints, ARunThatTunesFindsCellsBesideThem) {
  experiment::Assignment assignment;
  assignment.name = "campaigns/c1/runs/1";
  assignment.fabric = "tune:openmpi";
  experiment::SampleSeries asked;
  asked.point = {experiment::kTuneExperiment, "settings", {{"ranks", int64_t{4}}}};
  assignment.points = {asked.point};
  const auto planned = PlannedPoints::read(experiment::to_json(assignment).dump(), 1);
  ASSERT_TRUE(planned.ok()) << planned.error().message();
  experiment::SampleSeries cell;
  cell.point = {experiment::cell_experiment("bcast"), "binomial", {{"ranks", int64_t{4}}}};
  EXPECT_TRUE(planned->is_beside(cell.point));
  EXPECT_FALSE(planned->is_beside(asked.point));
  EXPECT_EQ(*planned->find({cell, asked, cell}), std::vector<uint32_t>{0});
  // Other experiments, and cells in other runs, are refused.
  EXPECT_FALSE(planned->find({series(8)}).ok());
  EXPECT_FALSE(PlannedPoints::read(plan(), 2)->find({cell}).ok());
}

std::vector<campaign::PointResult> at(std::initializer_list<uint32_t> places) {
  std::vector<campaign::PointResult> results;
  for (const uint32_t place : places) results.push_back({place, 1e-6, 6, 0});
  return results;
}

TEST(PointSet, CountsEachPlaceOnce) {
  PointSet set;
  EXPECT_FALSE(set.contains_any(at({0, 7})));
  set.add(at({7, 2}));
  set.add(at({2}));
  EXPECT_EQ(set.size(), 2U);
  EXPECT_TRUE(set.contains_any(at({0, 7})));
  EXPECT_FALSE(set.contains_any({}));
  set.remove(at({7, 7, 100}));
  EXPECT_EQ(set.size(), 1U);
  EXPECT_FALSE(set.contains_any(at({0, 7})));
}

}  // namespace
}  // namespace stripline::server
