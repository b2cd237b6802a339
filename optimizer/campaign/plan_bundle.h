// The plan of a campaign as a file: what a machine that reaches no server needs to measure it
// ('stripline campaign export-plan', 'run-plan'). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "optimizer/campaign/next_run.h"
#include "optimizer/campaign/point_table.h"
#include "optimizer/experiment/experiment.h"

namespace stripline::campaign {

/// The largest file, in bytes.
inline constexpr size_t kMaxBundleBytes = size_t{64} << 20;

struct PlanBundle {
  std::string origin;     ///< The campaign that it is the plan of; empty: it was only planned.
  std::string spec_json;  ///< What was asked for, as the server that planned it takes it back.
  /// Name and version of each experiment.
  std::map<std::string, int64_t> requirements;
  bool feeds_model = false;
  double planned_run_s = 0;
  Rule rule;
  uint64_t seed = 0;  ///< The campaign's; runs derive theirs from it.
  /// The first run: its points are those of the plan, the coarser grids first. Without a name.
  experiment::Assignment assignment;
};

/// JSON with the SHA-256 of the rest in it. Errors: invalid_argument for numbers that are not
/// finite.
Result<std::string> bundle_text(const PlanBundle& bundle);

/// `what` names it in messages. Errors: data_loss for what is no plan, was changed, or is beyond
/// the bounds; unimplemented for a file of a later version.
Result<PlanBundle> read_bundle(std::string_view text, std::string_view what = "the file");

/// What this run measures: the points that `next` names, with its own seed. `table` holds the
/// plan's points, those that were added in earlier runs, and Next::added.
experiment::Assignment assignment_of(const PlanBundle& bundle, const PointTable& table,
                                     const Next& next, uint32_t run);

}  // namespace stripline::campaign
