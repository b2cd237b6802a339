#include "server/core/campaigns/held_out_plan.h"

#include <set>

#include <gtest/gtest.h>

#include "optimizer/experiment/held_out.h"
#include "server/testing/experiments.h"

namespace stripline::server {
namespace {

class HeldOutPlanTest : public testing::Test {
 protected:
  HeldOutPlan plan(uint64_t seed = 1) {
    return HeldOutPlan(seed, 2, [this](const std::string& name) -> const experiment::Experiment* {
      for (const experiment::Experiment& one : experiments_) {
        if (one.name == name) return &one;
      }
      return nullptr;
    });
  }

  std::vector<experiment::Experiment> experiments_ = test_experiments();
};

std::vector<experiment::Point> grid_of(size_t points) {
  return std::vector<experiment::Point>(points, {"micro.latency", "get", {{"bytes", int64_t{8}}}});
}

TEST_F(HeldOutPlanTest, HasItsShareOfWhatIsMeasuredSoFar) {
  HeldOutPlan held_out = plan();
  const auto of_least = held_out.with(grid_of(88));
  EXPECT_EQ(of_least.size(), 12U);
  EXPECT_TRUE(held_out.with({}).empty());
  EXPECT_EQ(held_out.with(grid_of(88)).size(), 12U);
}

TEST_F(HeldOutPlanTest, IsWholeProblemsOfWhatMayBeMeasured) {
  const auto points = plan().with(grid_of(440));
  std::set<std::string> keys;
  for (const auto& point : points) {
    EXPECT_TRUE(keys.insert(point_key(point)).second);
    EXPECT_TRUE(point.experiment == "micro.latency" || point.experiment == "micro.flood");
    const auto bytes = std::get<int64_t>(point.params.at("bytes"));
    EXPECT_NE(bytes & (bytes - 1), 0) << "on the grid";
  }
  EXPECT_EQ(points.size(), 60U);

  experiment::Factor direction = powers("window", "1", 8, 128);
  direction.minimum = 1;
  experiments_.push_back(
      declared("micro.vis_window",
               {powers("region_bytes", "B", 32, 1024), powers("bytes", "B", 16384, 16384),
                powers("stride", "1", 2, 2), direction},
               {"get", "put"}, {"vis.pipelined_window"}));
  const auto with_windows = plan().with(grid_of(440));
  const std::array<uint64_t, 1> seeds = {1};
  const experiment::HeldOutPoints known(seeds, 2);
  std::map<size_t, size_t> alternatives;
  for (const auto& point : with_windows) {
    const auto place = known.find(point);
    ASSERT_TRUE(place) << point_key(point);
    ++alternatives[place->problem];
  }
  size_t decisions = 0;
  for (const auto& [problem, measured] : alternatives) {
    EXPECT_EQ(measured, known.problems()[problem].points.size());
    if (measured > 1) ++decisions;
  }
  EXPECT_GE(decisions, 6U);
}

TEST_F(HeldOutPlanTest, IsNothingWhereNothingMayBeMeasured) {
  experiments_.clear();
  EXPECT_TRUE(plan().with(grid_of(1000)).empty());
}

}  // namespace
}  // namespace stripline::server
