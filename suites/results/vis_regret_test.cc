#include "suites/results/vis_regret.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "optimizer/experiment/experiment.h"
#include "optimizer/model/model_fixture.h"
#include "suites/registry.h"

namespace stripline::suites::results {
namespace {

using plan::ComputeClass;
using plan::Direction;
using plan::VisMethod;

TEST(VisCells, AreMoreThanAHundredThatNoCampaignMeasures) {
  const auto cells = vis_cells(false);
  EXPECT_GE(cells.size(), 100U);
  std::set<uint64_t> region_bytes;
  std::set<uint64_t> data_bytes;
  std::set<std::string> texts;
  for (const VisCell& cell : cells) {
    EXPECT_TRUE(texts.insert(cell.text()).second) << cell.text();
    region_bytes.insert(cell.shape.region_bytes);
    data_bytes.insert(cell.shape.region_bytes * cell.shape.regions);
  }
  for (const experiment::Factor& factor : find_benchmark("micro.vis")->declaration.factors) {
    for (const experiment::ParamValue& value : factor.values) {
      if (factor.name == "region_bytes") {
        EXPECT_FALSE(region_bytes.contains(static_cast<uint64_t>(std::get<int64_t>(value))));
      } else if (factor.name == "bytes") {
        EXPECT_FALSE(data_bytes.contains(static_cast<uint64_t>(std::get<int64_t>(value))));
      }
    }
  }
  EXPECT_LT(vis_cells(true).size(), cells.size() / 3);
}

TEST(VisCells, TheirPointsAreOnesThatTheExperimentTakes) {
  model::TunedModel model = model::example_model();
  model.pack = model::example_pack();
  model::VisModel tuned;
  tuned.get.emplace();
  tuned.get->chunk_bytes = 4096;
  tuned.get->window = 2;
  tuned.get->pipelined_window = 16;
  const plan::VisCosts costs(model.network.begin()->second, model.pack, &tuned);
  std::set<std::string> keys;
  for (const VisCell& cell : vis_cells(false)) {
    for (experiment::Point point : vis_points(cell, &costs)) {
      const auto refused =
          experiment::complete_point(find_benchmark("micro.vis")->declaration, point);
      EXPECT_FALSE(refused) << *refused;
      EXPECT_TRUE(keys.insert(experiment::point_key(point)).second);
      if (cell.shape.direction == Direction::put) {
        EXPECT_NE(point.variant, "bounding_box");
        continue;
      }
      if (point.variant == "packed") {
        const plan::VisPlan plan =
            plan::force_vis(request_of_cell(cell), &costs, VisMethod::packed, 0, 0);
        EXPECT_EQ(experiment::number_param(point, "chunk_bytes"),
                  static_cast<int64_t>(plan.chunk_bytes));
        EXPECT_EQ(experiment::number_param(point, "window"), plan.window);
        if (cell.compute == ComputeClass::communication_only) {
          EXPECT_EQ(plan.chunk_bytes, 4096U);
          EXPECT_LE(plan.window, 2U);
        }
      } else if (point.variant == "pipelined") {
        EXPECT_EQ(experiment::number_param(point, "window"),
                  std::min<int64_t>(16, static_cast<int64_t>(cell.shape.regions)));
      }
    }
  }
}

fit::RunMedians runs_of(const std::vector<double>& seconds) {
  fit::RunMedians medians;
  for (const double one : seconds) medians[static_cast<uint32_t>(medians.size() + 1)] = one;
  return medians;
}

void set(fit::VisTimes& times, VisMethod method, const std::vector<double>& seconds) {
  times.methods[static_cast<size_t>(method)][{4096, 4, 1}] = runs_of(seconds);
}

const VisCell kCell{{Direction::get, 8, 512, 2}, ComputeClass::communication_only};

// The runtime carries out a plan with a larger box as pipelined, so that its time is another one's.
TEST(VisCells, BoundingBoxesThatAJobHasNoMemoryForAreNotAllowed) {
  for (const uint64_t regions : {uint64_t{1000}, uint64_t{1753}}) {
    const VisCell cell{{Direction::get, 184, regions, 4}, ComputeClass::communication_only};
    EXPECT_EQ(plan::vis_allowed(request_of_cell(cell), VisMethod::bounding_box), regions == 1000)
        << regions;
  }
}

TEST(CellRegret, IsWhatTheChosenMethodTakesLongerInTheSameRuns) {
  fit::VisTimes times;
  // Runs differ by far more than methods do.
  set(times, VisMethod::pipelined, {1.2, 12, 120, 3.6});
  set(times, VisMethod::packed, {1, 10, 100, 3});
  const auto lost = cell_regret(kCell, times, VisMethod::pipelined);
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->best, VisMethod::packed);
  EXPECT_NEAR(lost->value, 0.2, 1e-12);
  EXPECT_NEAR(lost->low, 0.2, 1e-9);
  EXPECT_TRUE(lost->lost());
  const auto right = cell_regret(kCell, times, VisMethod::packed);
  EXPECT_EQ(right->value, 0);
  EXPECT_FALSE(right->lost());
  EXPECT_FALSE(cell_regret(kCell, times, VisMethod::native_iov).has_value());
}

TEST(CellRegret, OnlyRunsThatHaveAllMethodsCount) {
  fit::VisTimes times;
  set(times, VisMethod::pipelined, {2, 2, 2});
  set(times, VisMethod::packed, {1, 1});
  EXPECT_NEAR(cell_regret(kCell, times, VisMethod::pipelined)->value, 1, 1e-12);
  set(times, VisMethod::packed, {1});
  EXPECT_FALSE(cell_regret(kCell, times, VisMethod::pipelined).has_value());
}

// Methods that are equally fast: whatever is chosen, the fastest of some noisy times is another
// one, and by comparing in the runs in which it is the fastest it would seem to win by noise.
TEST(CellRegret, OfNoiseIsNothing) {
  std::mt19937_64 random(7);
  std::normal_distribution<> noise(0, 0.1);
  double sum = 0;
  double naive = 0;
  constexpr int kCells = 400;
  size_t known = 0;
  for (int cell = 0; cell < kCells; ++cell) {
    fit::VisTimes times;
    std::array<double, plan::kVisMethods> means{};
    for (size_t m = 0; m < plan::kVisMethods; ++m) {
      std::vector<double> seconds;
      for (int run = 0; run < 8; ++run) seconds.push_back(std::exp(noise(random)));
      for (const double one : seconds) means[m] += std::log(one) / 8;
      set(times, static_cast<VisMethod>(m), seconds);
    }
    const auto regret = cell_regret(kCell, times, VisMethod::packed);
    sum += regret->value;
    known += regret->lost() ? 1 : 0;
    naive += std::expm1(means[static_cast<size_t>(VisMethod::packed)] -
                        *std::min_element(means.begin(), means.end()));
  }
  EXPECT_NEAR(sum / kCells, 0, 0.01);
  EXPECT_GT(naive / kCells, 0.02);
  EXPECT_LE(known, size_t{kCells} / 20);
}

TEST(VisRegret, IsAnAverageAndTheWorstThatIsKnown) {
  const VisCell second{{Direction::get, 32, 128, 2}, ComputeClass::heavy};
  const VisCell third{{Direction::get, 64, 128, 2}, ComputeClass::heavy};
  const VisCell unmeasured{{Direction::get, 32, 512, 2}, ComputeClass::heavy};
  fit::VisSamples samples;
  const auto times_of = [&](const VisCell& cell) -> fit::VisTimes& {
    return samples.cells[static_cast<size_t>(cell.compute)][cell.shape];
  };
  set(times_of(kCell), VisMethod::pipelined, {10, 10, 10, 10});
  set(times_of(kCell), VisMethod::packed, {8, 8, 8, 8});
  set(times_of(second), VisMethod::pipelined, {10, 10, 10, 10});
  set(times_of(second), VisMethod::packed, {15, 15.1, 15, 14.9});
  // Slower on average, but not for certain.
  set(times_of(third), VisMethod::pipelined, {10, 10, 10, 10});
  set(times_of(third), VisMethod::packed, {40, 10, 9, 11});
  const std::vector<VisCell> cells = {kCell, second, third, unmeasured};
  const VisRegret packed =
      vis_regret(cells, samples, [](const VisCell&) { return VisMethod::packed; });
  ASSERT_EQ(packed.cells.size(), 3U);
  EXPECT_EQ(packed.best, 2U);
  EXPECT_NEAR(packed.worst, 0.5, 0.01);
  EXPECT_LE(packed.worst_low, packed.worst);
  EXPECT_GE(packed.worst_high, packed.worst);
  EXPECT_GT(packed.cells[2].value, 0.2);
  EXPECT_NEAR(packed.mean, (packed.cells[1].value + packed.cells[2].value) / 3, 1e-12);
  EXPECT_EQ(packed.worst_cell, "get, heavy: 128 x 32 B (packed instead of pipelined)");
  const VisRegret right = vis_regret(cells, samples, [](const VisCell& cell) {
    return cell.shape.region_bytes == 8 ? VisMethod::packed : VisMethod::pipelined;
  });
  EXPECT_EQ(right.best, 3U);
  EXPECT_LE(right.mean, 1e-12);
  EXPECT_EQ(right.worst_cell, "");
}

TEST(VisRegret, OfSuspectsIsWhatOtherRunsSay) {
  const VisCell second{{Direction::get, 32, 128, 2}, ComputeClass::heavy};
  const std::vector<VisCell> cells = {kCell, second};
  const auto measured = [](const VisCell& cell, const std::vector<double>& packed_s) {
    fit::VisSamples samples;
    fit::VisTimes& times = samples.cells[static_cast<size_t>(cell.compute)][cell.shape];
    set(times, VisMethod::pipelined, {10, 10, 10, 10});
    set(times, VisMethod::packed, packed_s);
    return samples;
  };
  const auto packed = [](const VisCell&) { return VisMethod::packed; };
  fit::VisSamples first = measured(kCell, {10.4, 10.5, 10.6, 10.5});
  first.cells[static_cast<size_t>(second.compute)] =
      measured(second, {13, 12, 11, 14}).cells[static_cast<size_t>(second.compute)];
  const VisRegret regret = vis_regret(cells, first, packed);
  const std::vector<VisCell> doubtful = suspects(regret, 0.15);
  ASSERT_EQ(doubtful.size(), 1U);
  EXPECT_EQ(doubtful[0].text(), second.text());
  const VisRegret after =
      confirmed(regret, vis_regret(doubtful, measured(second, {10.9, 11, 11.1, 11}), packed));
  ASSERT_EQ(after.cells.size(), 2U);
  EXPECT_NEAR(after.worst, 0.1, 0.005);
  EXPECT_LT(after.worst_high, 0.15);
  EXPECT_NEAR(after.mean, 0.075, 0.005);
  EXPECT_EQ(confirmed(regret, VisRegret{}).worst, regret.worst);
}

}  // namespace
}  // namespace stripline::suites::results
