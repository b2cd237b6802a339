// An exported file, loaded into its target and compared with the default: fresh launches of both,
// in turns, in stages; and proof that the target reads it, by probes.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/decide.h"
#include "suites/targets/launcher.h"
#include "suites/targets/search.h"

namespace stripline::suites::tune {

/// What is compared, in the order of the stages of a validation. A stage that fails is the last
/// one.
enum class Stage : uint8_t {
  fitted,    ///< cells that the search measured
  held_out,  ///< sizes, numbers of ranks, types and places that it did not
  programs,  ///< that nothing was tuned for
};
inline constexpr std::array kStages = {Stage::fitted, Stage::held_out, Stage::programs};
std::string_view to_string(Stage stage);  ///< "fitted", "held_out", "programs"
std::string_view title_of(Stage stage);   ///< for people: "held-out sizes, ranks and types"

/// What is compared, beyond a cell: the element type and whether a call works in place.
struct Check {
  DriverCell asked;
  targets::Cell cell;  ///< of collectives
  Stage stage = Stage::programs;
  bool of_knobs = false;  ///< about all knobs that depart, together
};

/// What a validation looks at: fitted cells that depart from the default; sizes between them, the
/// numbers of ranks behind theirs, other types and calls in place, and operations that do not
/// commute unless those are excluded, a few of all these; of each collective, a number of ranks in
/// the middle between two with the same choices, which may be predicted there; where settings of
/// knobs depart, the cells that knobs are looked at by with this number of processors, and others
/// with as many ranks as there may be; where a choice holds for all sizes, some beyond the largest
/// that was measured; programs.
std::vector<Check> checks_of(const targets::Target& target,
                             const std::vector<targets::Choice>& by_cell,
                             const std::vector<targets::Setting>& settings,
                             const std::vector<uint32_t>& ranks, uint32_t processors,
                             const targets::Safety& safety);

struct Checked {
  Check check;
  stats::NonInferiorityTest test;
  size_t pairs = 0;
};
/// Slower than the default by more than the margin, for certain.
bool is_slower(const Checked& one);
/// Neither accepted nor slower for certain.
bool is_inconclusive(const Checked& one);

/// How a stage ended.
struct StageResult {
  Stage stage = Stage::fitted;
  bool passed = false;
  std::string verdict;  ///< a part of a sentence
  /// Comparisons that are not accepted and not slower for certain, also those of cells that went
  /// back to the default for it.
  size_t inconclusive = 0;
};

struct ValidationOptions {
  targets::DecisionRule rule;
  double budget_s = 80;
  uint32_t processors = 1;
  uint64_t seed = 1;
  size_t least_pairs = 5;
};

/// The verdict about a stage from its comparisons: it passes with enough pairs, where all of them
/// are accepted (targets::is_accepted).
StageResult judge_stage(Stage stage, std::span<const Checked> checked,
                        const ValidationOptions& options);

/// Times of the checks of a stage with the settings of `file` beside those without, by pairs of
/// launches until all are known well enough, or the time is up: there may be no pair then. Errors:
/// those of launches; aborted where a launch with the file fails, or gives wrong data; data_loss
/// for a file that its strict reader refuses.
Result<std::vector<Checked>> validate(Launcher& launcher, const std::filesystem::path& file,
                                      const std::vector<Check>& checks, Stage stage,
                                      const ValidationOptions& options, const Tell& tell);

/// Loads the file with a probe in place of what it says of a cell, or of a knob, beside the file as
/// it is. Returns by what factor the probe's cell was slowed down. Errors: failed_precondition,
/// with the probe, where it was not; deadline_exceeded where the time of `options` was up before.
Result<double> prove_reading(Launcher& launcher, const std::filesystem::path& file,
                             const Probe& probe, const ValidationOptions& options);

}  // namespace stripline::suites::tune
