// Other runtimes on this node, by stripline-tune (docs/tuning-other-runtimes.md): which of them a
// server may have tuned here, and settings that it publishes for them. Calls wait for that program,
// a second or so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agent/description.h"
#include "base/result.h"

namespace stripline::agent {

/// What the configuration of this agent says of targets, by their names.
struct TargetOptions {
  std::string program;                         ///< path of stripline-tune
  std::vector<std::string> tuned;              ///< those that may be tuned here
  std::map<std::string, std::string> folders;  ///< where settings of one are installed
  /// Ranks of the largest job here, for which memory that settings take is estimated; 0: as many as
  /// are tuned.
  uint32_t largest_job = 0;
  /// Also settings that hold for commutative operations alone are installed.
  bool commutative_only = false;
};

/// "openmpi=/etc/openmpi" as an entry of `folders`. Errors: invalid_argument.
Status add_folder(const std::string& text, TargetOptions& options);

/// Adds the targets of the options to what this node offers, and their versions to its facts.
/// Errors: failed_precondition for a target that is not installed here, or not known; those of
/// running the program.
Status add_targets(const TargetOptions& options, Description& description);

/// The facts that add_targets() adds, as they are now: a target that is gone has "not installed" in
/// place of its version. Errors: those of running the program.
Result<std::map<std::string, std::string>> target_facts(const TargetOptions& options);

/// The worker of a run that tunes a target (docs/worker-protocol.md), without the environment.
std::vector<std::string> tuning_worker(const TargetOptions& options);

/// Installs a packed export of this target where the options say. Errors: failed_precondition with
/// why the program refuses it, or without a folder for it; data_loss where it is of another target;
/// unavailable.
Status install_settings(const TargetOptions& options, const std::string& target,
                        const std::string& packed, const std::filesystem::path& work_folder);

/// Takes away what was installed for the target; success, too, where nothing is installed any more.
/// Errors: those of the program, which removes nothing that was changed since.
Status uninstall_settings(const TargetOptions& options, const std::string& target);

}  // namespace stripline::agent
