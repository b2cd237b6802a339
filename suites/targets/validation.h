// An exported file, loaded into its target and compared with the default: fresh launches of both,
// in turns; and proof that the target reads it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/decide.h"
#include "suites/targets/launcher.h"
#include "suites/targets/search.h"

namespace stripline::suites::tune {

/// What is compared, beyond a cell: the element type and whether a call works in place.
struct Check {
  DriverCell asked;
  targets::Cell cell;   ///< of collectives
  bool fitted = false;  ///< measured by the search; else held out
};

/// What a validation looks at: fitted cells that depart from the default, sizes between them, other
/// types and calls in place, operations that do not commute unless those are excluded, and programs
/// that nothing was tuned for.
std::vector<Check> checks_of(const std::vector<targets::Choice>& by_cell,
                             const std::vector<uint32_t>& ranks, const targets::Safety& safety);

struct Checked {
  Check check;
  stats::NonInferiorityTest test;
  size_t pairs = 0;
};

struct ValidationOptions {
  targets::DecisionRule rule;
  double budget_s = 80;
  uint32_t processors = 1;
  uint64_t seed = 1;
  size_t least_pairs = 5;
};

/// Times of the checks with the settings of `file` beside those without, by pairs of launches until
/// the time is up. Errors: those of launches; aborted where a launch with the file fails, or gives
/// wrong data; data_loss for a file that its strict reader refuses.
Result<std::vector<Checked>> validate(Launcher& launcher, const std::filesystem::path& file,
                                      const std::vector<Check>& checks,
                                      const ValidationOptions& options, const Tell& tell);

/// Loads the file with a probe in place of what it says of a cell, beside the file as it is.
/// Returns by what factor the cell was slowed down. Errors: failed_precondition where it was not.
Result<double> prove_reading(Launcher& launcher, const std::filesystem::path& file,
                             const Probe& probe, const ValidationOptions& options);

}  // namespace stripline::suites::tune
