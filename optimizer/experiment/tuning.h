// Names by which a campaign tunes another runtime (docs/tuning-other-runtimes.md), a target. Such a
// campaign measures the "fabric" tune:TARGET, which nodes offer where that is allowed, by one
// experiment of one rank: `stripline-tune`, which starts the target's own processes. The settings
// that it brings are a version of a model of the "fabric" target:TARGET, which nodes offer that
// install them. Pure.
#pragma once

#include <string>
#include <string_view>

#include "optimizer/experiment/experiment.h"

namespace stripline::experiment {

/// The one experiment, with its factors. A point is a number of ranks; all points of a run are
/// tuned together, by the same options.
inline constexpr const char* kTuneExperiment = "target.tune";
namespace tune_factor {
inline constexpr const char* kRanks = "ranks";
inline constexpr const char* kPath = "path";
inline constexpr const char* kCommutativeOnly = "commutative_only";
inline constexpr const char* kAcceptUntried = "accept_untried";
inline constexpr const char* kBytes = "bytes";  ///< of cells alone
}  // namespace tune_factor

/// Whether a point is a cell that a run of tuning has measured, "target.bcast": it finds these
/// itself, and sends them beside the points that it was asked for.
bool is_cell(const Point& point);
/// The experiment of an operation's cells.
std::string cell_experiment(std::string_view operation);
/// The operation, if the experiment is cell_experiment() of one; empty: it is another one.
std::string_view operation_of_cells(std::string_view experiment);

/// "tune:openmpi": what a node offers that a target can be tuned on, and a campaign asks for.
std::string tuning_fabric(std::string_view target);
/// "target:openmpi": what settings are of, and a node offers that installs them.
std::string settings_fabric(std::string_view target);

/// The target's name, if the fabric is tuning_fabric(); empty: it is another one.
std::string_view tuned_target(std::string_view fabric);
/// The target's name, if the fabric is settings_fabric(); empty: it is another one.
std::string_view target_of_settings(std::string_view fabric);

/// The fabric of the model to which a campaign over this fabric, without options of runs, publishes
/// a version: of settings where it tunes, else itself.
std::string fabric_of_model(const std::string& network);

/// What nodes declare that offer tuning_fabric() of any target.
Experiment tune_declaration();

/// The name of a target's version among the facts of a node, and of a hash of how it is built and
/// set up there.
std::string version_fact(std::string_view target);
std::string configuration_fact(std::string_view target);

}  // namespace stripline::experiment
