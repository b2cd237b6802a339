// The samples of a campaign, recorded, as 'stripline campaign export' writes them. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/campaign/point_table.h"
#include "optimizer/experiment/experiment.h"

namespace stripline::campaign {

struct Recording {
  std::vector<experiment::Point> points;
  /// By run, then by place among the points.
  std::map<uint32_t, std::map<uint32_t, PointResult>> runs;

  /// What measuring all that is recorded took.
  double seconds() const;
};

/// Reads JSON lines, one series each. Orphans are left out; of several series of a point in a run
/// the last one counts. Errors: data_loss, naming the line; failed_precondition for a recording
/// without a series.
Result<Recording> read_recording(std::string_view json_lines);

}  // namespace stripline::campaign
