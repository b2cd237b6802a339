#include "suites/results/vis_regret.h"

#include <set>

#include <gtest/gtest.h>

#include "optimizer/experiment/experiment.h"
#include "suites/registry.h"

namespace stripline::suites::results {
namespace {

using plan::ComputeClass;
using plan::Direction;
using plan::VisMethod;

TEST(VisCells, AreMoreThanAHundredHalfOfThemJudged) {
  const auto cells = vis_cells(false);
  EXPECT_GE(cells.size(), 100U);
  size_t judged = 0;
  std::set<std::string> texts;
  for (const VisCell& cell : cells) {
    judged += cell.judged ? 1 : 0;
    EXPECT_TRUE(texts.insert(cell.text()).second) << cell.text();
  }
  EXPECT_NEAR(static_cast<double>(judged), static_cast<double>(cells.size()) / 2,
              0.1 * static_cast<double>(cells.size()));
  EXPECT_LT(vis_cells(true).size(), cells.size() / 3);
}

TEST(VisCells, TheirPointsAreOnesThatTheExperimentTakes) {
  model::VisModel tuned;
  tuned.get.emplace();
  tuned.get->chunk_bytes = 4096;
  tuned.get->window = 2;
  tuned.get->pipelined_window = 16;
  std::set<std::string> keys;
  for (const VisCell& cell : vis_cells(false)) {
    for (experiment::Point point : vis_points(cell, tuned)) {
      const auto refused =
          experiment::complete_point(find_benchmark("micro.vis")->declaration, point);
      EXPECT_FALSE(refused) << *refused;
      EXPECT_TRUE(keys.insert(experiment::point_key(point)).second);
      if (cell.shape.direction == Direction::put) {
        EXPECT_NE(point.variant, "bounding_box");
        continue;
      }
      EXPECT_EQ(experiment::number_param(point, "chunk_bytes"), 4096);
      if (point.variant == "packed") {
        EXPECT_EQ(experiment::number_param(point, "window"), 2);
      } else if (point.variant == "pipelined") {
        EXPECT_EQ(experiment::number_param(point, "window"), 16);
      }
    }
  }
}

TEST(VisRegret, IsWhatTheChosenMethodTakesLonger) {
  const VisCell fitted{{Direction::get, 8, 128, 2}, ComputeClass::communication_only, false};
  const VisCell first{{Direction::get, 8, 512, 2}, ComputeClass::communication_only, true};
  const VisCell second{{Direction::get, 32, 128, 2}, ComputeClass::heavy, true};
  const VisCell unmeasured{{Direction::get, 32, 512, 2}, ComputeClass::heavy, true};
  fit::VisSamples samples;
  const auto set = [&](const VisCell& cell, VisMethod method, double seconds) {
    auto& times = samples.cells[static_cast<size_t>(cell.compute)][cell.shape];
    // The median over runs counts.
    times.methods[static_cast<size_t>(method)][{4096, 4, 1}] = {
        {1, seconds}, {2, 0.9 * seconds}, {3, 5 * seconds}};
  };
  for (const VisCell& cell : {fitted, first, second}) {
    set(cell, VisMethod::pipelined, 10);
    set(cell, VisMethod::packed, cell.shape.region_bytes == 8 ? 8 : 15);
  }
  const std::vector<VisCell> cells = {fitted, first, second, unmeasured};
  const VisRegret packed =
      vis_regret(cells, samples, [](const VisCell&) { return VisMethod::packed; });
  EXPECT_EQ(packed.cells, 2U);
  EXPECT_EQ(packed.best, 1U);
  EXPECT_DOUBLE_EQ(packed.worst, 0.5);
  EXPECT_DOUBLE_EQ(packed.mean, 0.25);
  EXPECT_EQ(packed.worst_cell, "get, heavy: 128 x 32 B (packed instead of pipelined)");
  const VisRegret right = vis_regret(cells, samples, [](const VisCell& cell) {
    return cell.shape.region_bytes == 8 ? VisMethod::packed : VisMethod::pipelined;
  });
  EXPECT_EQ(right.best, 2U);
  EXPECT_EQ(right.mean, 0);
  EXPECT_EQ(right.worst_cell, "");
}

}  // namespace
}  // namespace stripline::suites::results
