// What a campaign measures next, or why it measures no more: a pure function of its rule and of
// what its runs have said. The server's scheduler asks it between two runs; a replay asks the same
// of recorded samples (replay.h).
//
// A campaign's plan is a list of points that begins with two coarser grids. As many runs measure
// all of the plan as an interval needs, or fewer points where time is short: a grid with a part of
// what the next finer one adds. Then, if a width is
// asked for, points are measured further by whole experiments, because a fit needs each of its
// curves in the same run: those whose intervals are still too wide, and can become narrow enough,
// and those with points that were added where a curve breaks (breaks.h), which get the runs that
// they lack after a coarser grid, too. A campaign that races measures the plan once, and then the
// alternatives that are nearest to each choice's fastest one.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "optimizer/campaign/pace.h"
#include "optimizer/campaign/point_table.h"
#include "optimizer/campaign/spec.h"
#include "optimizer/experiment/experiment.h"

namespace stripline::campaign {

/// Why measuring ends.
enum class StopReason {
  converged,    ///< All intervals that count are narrow enough, or all choices are settled.
  max_runs,     ///< As many runs were made as were asked for, or can help.
  time_budget,  ///< Its time is used up, or no further run fits.
  node_budget,  ///< The same of its node-seconds.
  cancelled     ///< Somebody wanted it, or it failed.
};
std::string_view to_string(StopReason reason);  ///< "CONVERGED"
std::optional<StopReason> stop_reason_from_string(std::string_view name);

/// What a campaign is asked for.
struct Rule {
  uint32_t runs = 8;         ///< This many are made, unless something ends them earlier.
  uint32_t enough_runs = 6;  ///< That each point needs for an interval that can be published.
  uint32_t fewest_runs = 3;  ///< When a budget is used up: enough for a provisional result.
  /// Relative half-width of intervals to reach: then measuring ends after enough_runs, and a few
  /// more than `runs` are made where they suffice to reach it. 0: just `runs` are made.
  double width = 0;
  bool pilot = false;         ///< The first run measures the coarsest grid, to learn the pace.
  uint32_t least_points = 0;  ///< In the plan's coarsest grid, which stands first; 0: no such one.
  uint32_t core_points = 0;   ///< In its coarse one, which holds the coarsest.
  uint32_t all_points = 0;
  double time_budget_s = std::numeric_limits<double>::infinity();
  double node_budget_s = std::numeric_limits<double>::infinity();  ///< In node-seconds.
  uint32_t nodes = 1;                                              ///< In each run.
  bool refine_breaks = false;  ///< Points are added where curves break.
  /// The campaign's seed and ranks, where its plan holds points that judge its model
  /// (optimizer/experiment/held_out.h). A model is not fitted to these, so that a switch that lies
  /// between two of them is not bracketed yet.
  struct HeldOut {
    uint64_t seed = 0;
    uint32_t ranks = 2;
    bool operator==(const HeldOut&) const = default;
  };
  std::optional<HeldOut> held_out;
  /// Only which alternatives are the fastest matters (choices.h): what is slower, or settled, is
  /// measured no more. Then `runs` are the most that are made, and `width` does not matter.
  bool race = false;
  /// A race that has not measured all choices measures those of the others that are not certain by
  /// their neighbours, too (straddle.h).
  bool straddle = false;
};

/// How far it is.
struct Progress {
  std::vector<FinishedRun> runs;
  double spent_s = 0;  ///< Time of running, the time of lost runs and of the active one included.
  const PointTable* points = nullptr;  ///< What the finished runs have said; none: no one knows.
};

/// The runs that may be made beyond Rule::runs.
inline constexpr uint32_t kExtraRuns = 4;

/// What the next run measures, or that there is none.
struct Next {
  std::optional<StopReason> done;
  bool usable = true;  ///< If done: enough runs were made for a result, if a provisional one.
  uint32_t grid = 0;   ///< The first `grid` points of the plan are measured ...
  std::vector<uint32_t> places;          ///< ... or, if not empty, just these of the table ...
  std::vector<experiment::Point> added;  ///< ... and these, which are new.
  double expected_s = 0;                 ///< 0: unknown.
};

/// Limits it to the group and the budgets of what was asked for.
void limit(Rule& rule, const Spec& spec);

/// The seconds of running that are allowed.
double budget_s(const Rule& rule);

/// Budgets that are used up, whatever run is active. Nullopt: none is.
std::optional<Next> used_up(const Rule& rule, const Progress& progress);

/// Called when no run is active.
Next next_run(const Rule& rule, const Progress& progress);

/// How many of the plan's first points the next run measures: as many as all runs which are left
/// can measure in the time that is left, and enough of them, because points that are measured in
/// too few runs cannot be used. What lies between two grids is cut in eighths, so that runs of
/// similar pace measure the same points; plans order it so that any part fills in all curves
/// (refinement.h). After a quick pilot, whose pace is a guess, the coarse
/// grid is tried where enough time is left for the coarsest one should the guess be right.
uint32_t next_grid(const Rule& rule, const Progress& progress);

/// A time budget that would do for enough runs at the pace so far, in round figures with a reserve.
/// `active`: the pace of a run that is in progress and what it was given, where no run has
/// finished. Nullopt when the budget will do, or no pace is known.
struct ActiveRun {
  std::optional<Pace> pace;
  uint32_t points = 0;
  double active_s = 0;
};
std::optional<double> sufficient_budget_s(const Rule& rule, const Progress& progress,
                                          const std::optional<ActiveRun>& active);

}  // namespace stripline::campaign
