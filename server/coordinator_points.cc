// The coordinator's side of what is known of a campaign's points.
#include <limits>
#include <utility>
#include <vector>

#include "server/coordinator.h"
#include "server/point_records.h"

namespace stripline::server {
namespace {

constexpr size_t kAllPoints = std::numeric_limits<int64_t>::max();

}  // namespace

// As the store has them, with what finished runs have said. Errors: the store's; data_loss.
Result<std::shared_ptr<const campaign::PointTable>> Coordinator::read_points(
    const CampaignRecord& record, const std::vector<RunRecord>& runs) {
  STRIPLINE_ASSIGN_OR_RETURN(auto stored, store_.points(record.number, {}, 0, kAllPoints));
  std::vector<experiment::Point> points;
  points.reserve(stored.size());
  for (PointRecord& one : stored) points.push_back(std::move(one.point));
  auto table = std::make_shared<campaign::PointTable>(std::move(points));
  for (const RunRecord& run : runs) {
    if (run.state != RunState::finished) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const auto batches, store_.attempt_batches(run.key, run.fence));
    for (const BatchRecord& batch : batches) {
      STRIPLINE_ASSIGN_OR_RETURN(const auto series, series_of_batch(batch.data));
      add_samples(*table, run.key.run, series);
    }
  }
  return std::shared_ptr<const campaign::PointTable>(std::move(table));
}

// The active run has ended well, and its points are to be known better with it.
Status Coordinator::add_results(Draft& d, const ActiveRun& active) {
  if (!d.points) {
    std::vector<RunRecord> others = d.runs;
    std::erase_if(others, [&](const RunRecord& run) { return run.key == active.group.run(); });
    STRIPLINE_ASSIGN_OR_RETURN(d.points, read_points(d.campaign, others));
  }
  auto table = std::make_shared<campaign::PointTable>(*d.points);
  table->add_run(active.group.run().run, active.results);
  for (const campaign::PointResult& result : active.results) {
    d.changes.point_updates.push_back({d.campaign.number, record_of(*table, result.place)});
  }
  d.points = std::move(table);
  return {};
}

}  // namespace stripline::server
