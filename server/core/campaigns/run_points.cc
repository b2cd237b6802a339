#include "server/core/campaigns/run_points.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/random.h"
#include "optimizer/campaign/widths.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/tuning.h"
#include "server/core/campaigns/measured_points.h"
#include "server/core/sessions/run_order.h"
#include "server/store/point_records.h"

namespace stripline::server {

Result<std::shared_ptr<const campaign::PointTable>> read_points(
    Store& store, const CampaignRecord& record, const std::vector<RunRecord>& runs) {
  STRIPLINE_ASSIGN_OR_RETURN(auto table, measured_points(store, record.number, runs));
  return std::make_shared<const campaign::PointTable>(std::move(table));
}

namespace {

// A run of tuning has hundreds.
constexpr size_t kMaxCells = 5000;

// What the run has found itself becomes points of the campaign, behind those that were planned.
Status add_cells(Store& store, Draft& d, const ActiveRun& active, campaign::PointTable& table,
                 std::vector<campaign::PointResult>& results) {
  const auto first = static_cast<uint32_t>(table.points().size());
  STRIPLINE_ASSIGN_OR_RETURN(const auto batches,
                             store.attempt_batches(active.group.run(), active.group.fence()));
  std::vector<experiment::Point> added;
  for (const BatchRecord& batch : batches) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto series, series_of_batch(batch.data));
    for (const experiment::SampleSeries& one : series) {
      if (!active.planned->is_beside(one.point) || table.find(one.point)) continue;
      if (added.size() == kMaxCells) break;
      results.push_back(campaign::result_of(one, table.add(one.point)));
      added.push_back(one.point);
    }
  }
  if (!added.empty()) d.changes.points.push_back({d.campaign.number, std::move(added), first});
  return {};
}

}  // namespace

Status add_results(Store& store, Draft& d, const ActiveRun& active) {
  if (!d.points) {
    std::vector<RunRecord> others = d.runs;
    std::erase_if(others, [&](const RunRecord& run) { return run.key == active.group.run(); });
    STRIPLINE_ASSIGN_OR_RETURN(d.points, read_points(store, d.campaign, others));
  }
  auto table = std::make_shared<campaign::PointTable>(*d.points);
  const auto places = active.planned->places_in(*table);
  std::vector<campaign::PointResult> results;
  for (const campaign::PointResult& result : active.results) {
    const auto place = places.at(result.place);
    if (place) results.push_back({*place, result.median, result.samples, result.seconds});
  }
  if (!experiment::tuned_target(d.campaign.spec.fabric).empty()) {
    STRIPLINE_RETURN_IF_ERROR(add_cells(store, d, active, *table, results));
  }
  table->add_run(active.group.run().run, results);
  for (const campaign::PointResult& result : results) {
    d.changes.point_updates.push_back(update_of(d.campaign.number, *table, result.place));
  }
  d.campaign.width = campaign::achieved_width(*table);
  d.points = std::move(table);
  return {};
}

Result<std::string> plan_run(Store& store, Draft& d, const PlaceRun& place) {
  RunRecord& run = d.run(place.run);
  const bool is_stored = place.run <= d.campaign.spec.runs;
  const bool is_grid = place.places.empty() && place.added.empty();
  if (is_stored && is_grid && (!d.points || d.campaign.spec.width == 0)) {
    run.points_total = place.points;
    return store.run_plan(run.key);
  }
  // All but its points is that of the first one.
  STRIPLINE_ASSIGN_OR_RETURN(const std::string first, store.run_plan({place.campaign, 1}));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string frame,
                             order_text(first, 0, 0, d.campaign.spec.time_budget_s));
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(frame, "stored plan"));
  STRIPLINE_ASSIGN_OR_RETURN(auto assignment, experiment::assignment_from_json(json));
  assignment.name = run_name(run.key);
  assignment.run = place.run;
  assignment.seed = derive_seed(d.campaign.spec.seed, place.run);
  const auto& known = d.points->points();
  for (const uint32_t one : place.places) assignment.points.push_back(known.at(one).point);
  for (uint32_t one = 0; place.places.empty() && one < place.points; ++one) {
    assignment.points.push_back(known.at(one).point);
  }
  if (!place.added.empty()) {
    d.changes.points.push_back(
        {d.campaign.number, place.added, static_cast<uint32_t>(known.size())});
    auto table = std::make_shared<campaign::PointTable>(*d.points);
    for (const experiment::Point& point : place.added) {
      assignment.points.push_back(point);
      table->add(point);
    }
    d.points = std::move(table);
  }
  run.points_total = static_cast<uint32_t>(assignment.points.size());
  run.points_all = std::max(run.points_all, run.points_total);
  std::string plan = experiment::to_json(assignment).dump();
  d.changes.plans.push_back({run.key, plan});
  return plan;
}

}  // namespace stripline::server
