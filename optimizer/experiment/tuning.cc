#include "optimizer/experiment/tuning.h"

namespace stripline::experiment {
namespace {

constexpr std::string_view kTunes = "tune:";
constexpr std::string_view kSettings = "target:";
constexpr std::string_view kCells = "target.";

std::string_view behind(std::string_view prefix, std::string_view name) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string_view();
}

}  // namespace

bool is_cell(const Point& point) { return !operation_of_cells(point.experiment).empty(); }

std::string cell_experiment(std::string_view operation) {
  return std::string(kCells) + std::string(operation);
}

std::string_view operation_of_cells(std::string_view experiment) {
  return experiment == kTuneExperiment ? std::string_view() : behind(kCells, experiment);
}

std::string tuning_fabric(std::string_view target) {
  return std::string(kTunes) + std::string(target);
}

std::string settings_fabric(std::string_view target) {
  return std::string(kSettings) + std::string(target);
}

std::string_view tuned_target(std::string_view fabric) { return behind(kTunes, fabric); }

std::string_view target_of_settings(std::string_view fabric) { return behind(kSettings, fabric); }

std::string fabric_of_model(const std::string& network) {
  const std::string_view target = tuned_target(network);
  return target.empty() ? network : settings_fabric(target);
}

Experiment tune_declaration() {
  Experiment tune;
  tune.name = kTuneExperiment;
  tune.title = "Settings of another runtime";
  tune.description =
      "Searches the settings of a runtime that is installed on the node, by programs in that "
      "runtime, and validates them there.";
  tune.factors = {{tune_factor::kRanks,
                   "1",
                   "Ranks of the target's programs",
                   {int64_t{2}, int64_t{3}, int64_t{4}, int64_t{8}},
                   2,
                   1024},
                  {tune_factor::kPath,
                   "",
                   "Path between them",
                   {std::string("shm"), std::string("tcp"), std::string("any")},
                   {},
                   {}},
                  {tune_factor::kCommutativeOnly,
                   "1",
                   "1: all programs use operations that commute",
                   {int64_t{0}},
                   0,
                   1},
                  {tune_factor::kAcceptUntried,
                   "1",
                   "1: also a version of the target that was not tried",
                   {int64_t{0}},
                   0,
                   1}};
  tune.variants = {"settings"};
  tune.metric = {"speedup", "1", false};
  tune.verification =
      "On fresh launches no cell is slower than with the target's default settings, and a probe "
      "shows that the target reads the file.";
  return tune;
}

std::string version_fact(std::string_view target) {
  return "target." + std::string(target) + ".version";
}

std::string configuration_fact(std::string_view target) {
  return "target." + std::string(target) + ".configuration";
}

}  // namespace stripline::experiment
