#include "server/core/campaigns/measured_points.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "server/store/point_records.h"

namespace stripline::server {
namespace {

constexpr size_t kAllPoints = std::numeric_limits<int64_t>::max();

}  // namespace

Result<campaign::PointTable> measured_points(Store& store, int64_t campaign,
                                             const std::vector<RunRecord>& runs) {
  STRIPLINE_ASSIGN_OR_RETURN(auto stored, store.points(campaign, {}, 0, kAllPoints));
  std::vector<experiment::Point> points;
  points.reserve(stored.size());
  for (PointRecord& one : stored) points.push_back(std::move(one.point));
  campaign::PointTable table(std::move(points));
  for (const RunRecord& run : runs) {
    if (run.state != RunState::finished) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const auto batches, store.attempt_batches(run.key, run.fence));
    for (const BatchRecord& batch : batches) {
      STRIPLINE_ASSIGN_OR_RETURN(const auto series, series_of_batch(batch.data));
      add_samples(table, run.key.run, series);
    }
  }
  return table;
}

}  // namespace stripline::server
