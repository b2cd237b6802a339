// What a campaign that was measured without a server has brought, as a file: JSON lines that begin
// with the plan, then each run with its samples, and an end with the hash of all before it
// (docs/measurement.md). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/campaign/next_run.h"
#include "optimizer/campaign/plan_bundle.h"
#include "optimizer/campaign/point_table.h"
#include "optimizer/experiment/experiment.h"
#include "optimizer/experiment/point_order.h"

namespace stripline::campaign {

/// The largest file, in bytes.
inline constexpr size_t kMaxResultsBytes = size_t{256} << 20;
/// The most samples in one of its lines, as in what agents send at once.
inline constexpr size_t kMostBatchBytes = size_t{4} << 20;

/// A run that has ended well.
struct OfflineRun {
  uint32_t grid = 0;  ///< Next::grid
  double start_s = 0;
  double duration_s = 0;
  double ended_unix_s = 0;
  std::vector<std::string> rank_nodes;  ///< The node of each rank.
  /// By node: what its ranks said of themselves.
  std::map<std::string, std::map<std::string, std::string>> facts;
  std::vector<experiment::Point> added;  ///< To the plan, before it.
  /// In the order in which they came. Each point of a run has one series.
  std::vector<std::vector<experiment::SampleSeries>> batches;

  uint32_t points() const;
};

struct OfflineResults {
  PlanBundle plan;
  std::vector<OfflineRun> runs;  ///< Runs 1, 2, ...
  uint32_t lost_runs = 0;        ///< Attempts that came to nothing.
  double spent_s = 0;            ///< Time of running, that of lost runs included.
  StopReason reason = StopReason::cancelled;
  experiment::LeftOut left_out;  ///< That later runs did not measure, and why.
};

/// Errors: invalid_argument for numbers that are not finite; resource_exhausted when it would be
/// larger than kMaxResultsBytes.
Result<std::string> results_text(const OfflineResults& results);

/// `what` names it in messages. Errors: data_loss for what is no such file, is cut off or was
/// changed, or is beyond the bounds: samples of points that the plan does not have, of another run,
/// or twice; unimplemented for a file of a later version.
Result<OfflineResults> read_results(std::string_view text, std::string_view what = "the file");

/// The points of the plan with those that were added, and what the runs have said of them.
PointTable table_of(const OfflineResults& results);

/// What is measured next: next_run() of what there is.
Next next_of(const OfflineResults& results, const PointTable& table);

}  // namespace stripline::campaign
