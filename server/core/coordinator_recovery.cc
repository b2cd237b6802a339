// What the coordinator does with the runs that were being measured when the last server ended.
#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "server/clock.h"
#include "server/core/coordinator.h"
#include "server/store/point_records.h"

namespace stripline::server {

// Agents go on measuring without a server. A run whose attempt is stored waits for them; another,
// or one of before a backup was put in place, is measured again.
Status Coordinator::recover() {
  const MutexLock lock(mutex_);
  STRIPLINE_ASSIGN_OR_RETURN(nodes_at_start_, store_.count_nodes());
  STRIPLINE_ASSIGN_OR_RETURN(const auto campaigns, store_.unfinished_campaigns());
  for (const CampaignRecord& record : campaigns) {
    if (record.state == CampaignState::fitting) to_fit_.push_back(record.number);
    STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft(record.number));
    const bool measured = std::ranges::any_of(
        d.runs, [](const RunRecord& run) { return run.state == RunState::finished; });
    if (measured && record.state != CampaignState::fitting) {
      auto points = read_points(d.campaign, d.runs);
      if (!points.ok() && points.error().code() != ErrorCode::data_loss) return points.error();
      // Without them it measures what was planned.
      if (points.ok()) d.points = std::move(*points);
    }
    remember(d);
    std::string event;
    for (RunRecord& run : d.runs) {
      if (run.state != RunState::active) continue;
      STRIPLINE_ASSIGN_OR_RETURN(const auto attempt, store_.attempt(run.key, run.fence));
      if (attempt && !attempt->instances.empty() && run.fence > store_.fence_base()) {
        const Status taken_up = take_up(d, run, *attempt);
        if (taken_up.ok()) continue;
        if (taken_up.error().code() != ErrorCode::data_loss) return taken_up.error();
        spdlog::error("{}: {}", run_name(run.key), taken_up.error().message());
      }
      STRIPLINE_RETURN_IF_ERROR(requeue(d, run));
      event = "the server was restarted; run " + std::to_string(run.key.run) + " of " +
              std::to_string(d.runs.size()) + " is measured again";
      d.campaign.message = event;
    }
    if (event.empty()) continue;
    STRIPLINE_RETURN_IF_ERROR(commit(d, event));
    spdlog::info("{}: {}", campaign_name(record.number), event);
  }
  return {};
}

// The run is measured again. What its last attempt took, up to its last samples, counts all the
// same.
Status Coordinator::requeue(Draft& d, RunRecord& run) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto batches, store_.attempt_batches(run.key, run.fence));
  for (const BatchRecord& batch : batches) d.campaign.samples += batch.samples;
  d.campaign.measured_s += run.duration_s;
  d.changes.orphaned.push_back(run.key);
  run.state = RunState::pending;
  run.points_done = 0;
  return {};
}

// The group as it was. Nodes whose part has ended need not come back; what the others are is learnt
// from them when they do. The time budget is charged up to the last samples that were stored, and
// from now on.
Status Coordinator::take_up(const Draft& d, const RunRecord& run, const RunAttempt& attempt) {
  const double now_s = steady_seconds();
  ActiveRun active(RunGroup(run.key, run.fence, run.rank_nodes,
                            {options_.lease_s, options_.join_timeout_s}, now_s - run.duration_s),
                   run.points_total);
  RunGroup& group = active.group;
  group.postpone(run.duration_s + options_.reconnect_s);
  for (uint32_t rank = 0; rank < attempt.addresses.size(); ++rank) {
    group.join(run.rank_nodes.at(rank), rank, attempt.addresses[rank]);
  }
  if (group.ready()) active.pace.joined(group.started_s() + run.start_s);
  STRIPLINE_ASSIGN_OR_RETURN(const auto ends, store_.attempt_facts(run.key, run.fence));
  for (const AttemptFacts& end : ends) {
    group.finish(end.node);
    active.facts[end.node] = end.facts;
  }
  active.instances = attempt.instances;
  active.budget_end_s =
      group.started_s() + std::max(0.0, budget_s(d.campaign.spec) - d.campaign.measured_s);
  STRIPLINE_RETURN_IF_ERROR(count_stored(active));
  spdlog::info("{} goes on when its nodes come back", run_name(run.key));
  active_.insert_or_assign(run.key.campaign, std::move(active));
  return {};
}

// Which of its points have been stored. Errors: data_loss.
Status Coordinator::count_stored(ActiveRun& active) {
  const RunKey& run = active.group.run();
  STRIPLINE_ASSIGN_OR_RETURN(const std::string plan, store_.run_plan(run));
  STRIPLINE_ASSIGN_OR_RETURN(PlannedPoints planned, PlannedPoints::read(plan, active.points));
  STRIPLINE_ASSIGN_OR_RETURN(const auto batches, store_.attempt_batches(run, active.group.fence()));
  ReadBatch read;
  for (const BatchRecord& batch : batches) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto series, series_of_batch(batch.data));
    for (const auto& one : series) add_series(read, one);
    STRIPLINE_ASSIGN_OR_RETURN(const auto places, planned.find(series));
    for (size_t i = 0; i < series.size(); ++i) {
      active.results.push_back(campaign::result_of(series[i], places[i]));
    }
    active.beyond.insert(batch.seq);
  }
  STRIPLINE_ASSIGN_OR_RETURN(active.contiguous,
                             store_.contiguous_batches(run, active.group.fence()));
  active.beyond.erase(active.beyond.begin(), active.beyond.upper_bound(active.contiguous));
  active.measured.add(active.results);
  active.stored_points = static_cast<uint32_t>(active.measured.size());
  active.samples = read.samples;
  active.note = read.note;
  active.planned = std::make_shared<const PlannedPoints>(std::move(planned));
  return {};
}

}  // namespace stripline::server
