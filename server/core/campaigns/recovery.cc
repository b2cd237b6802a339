#include "server/core/campaigns/recovery.h"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "server/clock.h"
#include "server/core/campaigns/campaign_records.h"
#include "server/core/campaigns/run_points.h"
#include "server/core/sessions/sample_intake.h"
#include "server/store/point_records.h"

namespace stripline::server {
namespace {

// The run is measured again. What its last attempt took, up to its last samples, counts all the
// same.
Status requeue(Store& store, Draft& d, RunRecord& run) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto batches, store.attempt_batches(run.key, run.fence));
  for (const BatchRecord& batch : batches) d.campaign.samples += batch.samples;
  d.campaign.measured_s += run.duration_s;
  d.changes.orphaned.push_back(run.key);
  run.state = RunState::pending;
  run.message = "the server was restarted";
  run.points_done = 0;
  return {};
}

// Notes the points of it that have been stored. Errors: data_loss.
Status count_stored(Store& store, ActiveRun& active) {
  const RunKey& run = active.group.run();
  STRIPLINE_ASSIGN_OR_RETURN(const std::string plan, store.run_plan(run));
  STRIPLINE_ASSIGN_OR_RETURN(PlannedPoints planned, PlannedPoints::read(plan, active.points));
  STRIPLINE_ASSIGN_OR_RETURN(const auto batches, store.attempt_batches(run, active.group.fence()));
  BatchContent content;
  for (const BatchRecord& batch : batches) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto series, series_of_batch(batch.data));
    for (const auto& one : series) content.add(one);
    STRIPLINE_ASSIGN_OR_RETURN(const auto places, planned.find(series));
    size_t found = 0;
    for (const experiment::SampleSeries& one : series) {
      if (planned.is_beside(one.point)) continue;
      active.results.push_back(campaign::result_of(one, places[found++]));
    }
    active.out_of_order.insert(batch.seq);
  }
  STRIPLINE_ASSIGN_OR_RETURN(active.contiguous,
                             store.contiguous_batches(run, active.group.fence()));
  active.out_of_order.erase(active.out_of_order.begin(),
                            active.out_of_order.upper_bound(active.contiguous));
  active.measured.add(active.results);
  active.stored_points = static_cast<uint32_t>(active.measured.size());
  active.samples = content.samples;
  active.note = content.note;
  active.planned = std::make_shared<const PlannedPoints>(std::move(planned));
  return {};
}

// The group as it was. Nodes whose part has ended need not come back; what the others are is learnt
// from them when they do. The time budget is charged up to the last samples that were stored, and
// from now on.
Status take_up(CoreState& state, const Draft& d, const RunRecord& run, const RunAttempt& attempt)
    STRIPLINE_REQUIRES(state.mutex);
Status take_up(CoreState& state, const Draft& d, const RunRecord& run, const RunAttempt& attempt) {
  const double now_s = steady_seconds();
  ActiveRun active(
      RunGroup(run.key, run.fence, run.rank_nodes,
               {state.options.lease_s, state.options.join_timeout_s}, now_s - run.duration_s),
      run.points_total);
  RunGroup& group = active.group;
  group.postpone(run.duration_s + state.options.reconnect_s);
  for (uint32_t rank = 0; rank < attempt.addresses.size(); ++rank) {
    group.join(run.rank_nodes.at(rank), rank, attempt.addresses[rank]);
  }
  if (group.ready()) active.pace.joined(group.started_s() + run.start_s);
  STRIPLINE_ASSIGN_OR_RETURN(const auto ends, state.store.attempt_facts(run.key, run.fence));
  for (const AttemptFacts& end : ends) {
    group.finish(end.node);
    active.facts[end.node] = end.facts;
  }
  active.instances = attempt.instances;
  active.budget_end_s =
      group.started_s() + std::max(0.0, budget_s(d.campaign.spec) - d.campaign.measured_s);
  STRIPLINE_RETURN_IF_ERROR(count_stored(state.store, active));
  spdlog::info("{} goes on when its nodes come back", run_name(run.key));
  state.active.insert_or_assign(run.key.campaign, std::move(active));
  return {};
}

}  // namespace

Status recover_runs(CoreState& state, FitQueue& fits) {
  const MutexLock lock(state.mutex);
  STRIPLINE_ASSIGN_OR_RETURN(state.nodes_at_start, state.store.count_nodes());
  STRIPLINE_ASSIGN_OR_RETURN(const auto campaigns, state.store.unfinished_campaigns());
  for (const CampaignRecord& record : campaigns) {
    if (record.state == CampaignState::fitting) fits.add_campaign(record.number);
    STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft_of(state, record.number));
    const bool measured = std::ranges::any_of(
        d.runs, [](const RunRecord& run) { return run.state == RunState::finished; });
    if (measured && record.state != CampaignState::fitting) {
      auto points = read_points(state.store, d.campaign, d.runs);
      if (!points.ok() && points.error().code() != ErrorCode::data_loss) return points.error();
      // Without them it measures what was planned.
      if (points.ok()) d.points = std::move(*points);
    }
    remember(state, d);
    std::string event;
    for (RunRecord& run : d.runs) {
      if (run.state != RunState::active) continue;
      STRIPLINE_ASSIGN_OR_RETURN(const auto attempt, state.store.attempt(run.key, run.fence));
      if (attempt && !attempt->instances.empty() && run.fence > state.store.fence_base()) {
        const Status taken_up = take_up(state, d, run, *attempt);
        if (taken_up.ok()) continue;
        if (taken_up.error().code() != ErrorCode::data_loss) return taken_up.error();
        spdlog::error("{}: {}", run_name(run.key), taken_up.error().message());
      }
      STRIPLINE_RETURN_IF_ERROR(requeue(state.store, d, run));
      event = "the server was restarted; run " + std::to_string(run.key.run) + " of " +
              std::to_string(d.runs.size()) + " is measured again";
      d.campaign.message = event;
    }
    if (event.empty()) continue;
    STRIPLINE_RETURN_IF_ERROR(commit(state, d, event));
    spdlog::info("{}: {}", campaign_name(record.number), event);
  }
  return {};
}

}  // namespace stripline::server
