#include "optimizer/experiment/tuning.h"

#include <gtest/gtest.h>

#include "optimizer/experiment/json.h"

namespace stripline::experiment {
namespace {

TEST(Tuning, FabricsNameTheirTarget) {
  EXPECT_EQ(tuned_target(tuning_fabric("openmpi")), "openmpi");
  EXPECT_EQ(target_of_settings(settings_fabric("openmpi")), "openmpi");
  EXPECT_EQ(tuned_target(settings_fabric("openmpi")), "");
  EXPECT_EQ(target_of_settings(tuning_fabric("openmpi")), "");
  EXPECT_EQ(tuned_target("tcp"), "");
  EXPECT_EQ(fabric_of_model("tune:ucx"), "target:ucx");
  EXPECT_EQ(fabric_of_model("emulated:opteron-vapi"), "emulated:opteron-vapi");
}

TEST(Tuning, CellsAreOfOperationsOfATarget) {
  EXPECT_EQ(cell_experiment("bcast"), "target.bcast");
  EXPECT_TRUE(is_cell({cell_experiment("bcast"), "binomial", {}}));
  EXPECT_FALSE(is_cell({kTuneExperiment, "settings", {}}));
  EXPECT_EQ(operation_of_cells("target.bcast"), "bcast");
  EXPECT_EQ(operation_of_cells(kTuneExperiment), "");
  EXPECT_EQ(operation_of_cells("channel.latency"), "");
  EXPECT_FALSE(is_cell({"channel.latency", "put", {}}));
}

TEST(Tuning, TheDeclarationTravels) {
  const auto read = experiment_from_json(to_json(tune_declaration()));
  ASSERT_TRUE(read.ok()) << read.error().message();
  Point point{kTuneExperiment, "settings", {{tune_factor::kRanks, int64_t{6}}}};
  EXPECT_EQ(complete_point(*read, point), std::nullopt);
  EXPECT_EQ(text_param(point, tune_factor::kPath), "shm");
  EXPECT_EQ(number_param(point, tune_factor::kAcceptUntried), 0);
  point.params[tune_factor::kPath] = std::string("ib");
  EXPECT_NE(complete_point(*read, point), std::nullopt);
}

}  // namespace
}  // namespace stripline::experiment
