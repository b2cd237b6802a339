// The search of alternatives: launches of a driver until what is decided is known, or the time is
// up. What a search is given and finds, that of knobs (knob_search.h) included.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/decide.h"
#include "suites/targets/grid.h"
#include "suites/targets/launcher.h"
#include "suites/targets/search_table.h"

namespace stripline::suites::tune {

/// A line for whoever waits.
using Tell = std::function<void(const std::string&)>;

/// More runs show differences that no program would notice.
inline constexpr size_t kMostSearchRuns = 16;
/// The maximum time of a cell and a variant in a launch.
inline constexpr double kSearchPointBudgetS = 0.008;
inline constexpr uint32_t kSearchRepetitions = 200;

struct SearchOptions {
  GridOptions grid;
  targets::Path path = targets::Path::shared_memory;
  targets::Safety safety;
  targets::DecisionRule rule;
  double budget_s = 150;  ///< of collectives
  double knob_budget_s = 60;
  uint64_t memory_bytes = uint64_t{64} << 20;  ///< that knobs may take on each rank
  uint32_t largest_job = 8;                    ///< of a job of this many ranks
  uint64_t seed = 1;
  uint32_t processors = 1;
};

/// What was found of a value of a knob.
struct KnobResult {
  targets::Setting setting;
  targets::KnobDecision decision;
  std::string failure;  ///< why it could not be measured, or may not be taken; empty: it could
  /// What it gains beside which other settings, where it is taken with them and `decision`, which
  /// is about it alone, is no reason to; empty: it is not.
  std::string together;
};

/// Settings, together, with the median times of each cell in each run.
struct SweptSettings {
  std::vector<targets::Setting> settings;    ///< none: the default
  std::vector<std::vector<double>> times_s;  ///< by cell and run; NaN: not measured in it
  std::string failure;                       ///< why it is not measured any more; empty: it is
};
struct KnobSweep {
  std::vector<DriverCell> cells;
  std::vector<SweptSettings> swept;  ///< the default first
};

/// An alternative that was ended, or gave wrong data.
struct Rejected {
  targets::Cell cell;
  std::string candidate;
  std::string reason;
};

struct SearchReport {
  SearchResult result;
  std::vector<KnobResult> knobs;
  KnobSweep knob_times;                    ///< of the default, and of values that were measured
  std::vector<targets::Setting> settings;  ///< of knobs that depart
  /// Knobs, and control variables of alternatives, that the installed version does not let be set.
  std::set<std::string> unsettable;
  std::vector<Rejected> rejected;
  /// Collectives without predictions for numbers of ranks that were not measured.
  std::set<targets::Collective> not_predicted;
  std::vector<targets::Violation> violations;        ///< of performance guidelines, by the default
  std::vector<targets::Violation> tuned_violations;  ///< by what departs after validation
  std::vector<targets::CellTimes> times;  ///< of what was chosen, in the order of `result.by_cell`
  /// What is slowest beside its default, of alternatives and of values of knobs; none: nothing is.
  std::optional<Probe> rules_probe;
  std::optional<Probe> settings_probe;
  size_t runs = 0;
  double seconds = 0;
};

/// Alternatives of collectives, with the settings that `report` has. Ends when the time is up: what
/// was not measured often enough then keeps the default. Errors: those of launches, and
/// aborted where the default itself does not come to its end.
Status search_collectives(Launcher& launcher, const SearchOptions& options, const Tell& tell,
                          SearchReport& report);

/// What a search is judged by: every alternative of every first cell in this number of runs, at the
/// default of all knobs. Only what fails leaves the race. Errors: those of search_collectives().
Result<SearchTable> sweep_collectives(Launcher& launcher, const SearchOptions& options, size_t runs,
                                      const Tell& tell);

}  // namespace stripline::suites::tune
