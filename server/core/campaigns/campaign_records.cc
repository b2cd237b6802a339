#include "server/core/campaigns/campaign_records.h"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/cut_text.h"
#include "base/json.h"
#include "base/network_name.h"
#include "server/clock.h"

namespace stripline::server {
namespace {

constexpr size_t kLongestAttemptReasonBytes = 1000;

AttemptOutcome outcome_of(RunState after) {
  switch (after) {
    case RunState::finished:
      return AttemptOutcome::finished;
    case RunState::failed:
      return AttemptOutcome::failed;
    case RunState::cancelled:
      return AttemptOutcome::cancelled;
    case RunState::pending:
    case RunState::active:
      break;
  }
  return AttemptOutcome::lost;
}

// How the run's last attempt ended. Runs are cancelled when their campaign ends, which says why.
AttemptEnd end_of_attempt(const RunRecord& run, const CampaignRecord& campaign) {
  const bool cancelled = run.state == RunState::cancelled;
  return {run.key, run.fence, campaign.updated_unix_s, outcome_of(run.state),
          cut_text(cancelled ? campaign.message : run.message, kLongestAttemptReasonBytes)};
}

}  // namespace

Answer<CampaignRecord> stored_campaign(Store& store, int64_t number) {
  STRIPLINE_ASSIGN_OR_RETURN(auto record, store.campaign(number));
  if (record) return std::move(*record);
  return campaign_not_found(campaign_name(number));
}

Result<Draft> draft_of(CoreState& state, int64_t campaign) {
  if (const auto open = state.open.find(campaign); open != state.open.end()) {
    return Draft{open->second.campaign, open->second.runs, open->second.points};
  }
  STRIPLINE_ASSIGN_OR_RETURN(auto record, state.store.campaign(campaign));
  if (!record) return Error(ErrorCode::internal, campaign_name(campaign) + " is not stored");
  STRIPLINE_ASSIGN_OR_RETURN(auto runs, state.store.runs(campaign));
  return Draft{std::move(*record), std::move(runs), nullptr};
}

CampaignView current_view(const CoreState& state, const CampaignRecord& campaign,
                          const std::vector<RunRecord>& runs) {
  const auto active = state.active.find(campaign.number);
  const bool running =
      active != state.active.end() &&
      std::ranges::any_of(runs, [](const auto& run) { return run.state == RunState::active; });
  CampaignView view =
      view_of(campaign, runs, running ? state.active_seconds(campaign.number) : std::nullopt);
  if (running) {
    view.samples += active->second.samples;
    view.points_done += active->second.stored_points;
  }
  return view;
}

void add_records(const CoreState& state, Draft& draft, const std::string& event) {
  CampaignRecord& campaign = draft.campaign;
  campaign.updated_unix_s = unix_seconds();
  draft.changes.campaigns.push_back(campaign);
  const auto open = state.open.find(campaign.number);
  for (size_t i = 0; i < draft.runs.size(); ++i) {
    const RunRecord& run = draft.runs[i];
    const bool known = open != state.open.end() && i < open->second.runs.size();
    if (known && open->second.runs[i] == run) continue;
    draft.changes.runs.push_back(run);
    const bool was_active = known && open->second.runs[i].state == RunState::active;
    if (was_active && run.state != RunState::active) {
      draft.changes.attempt_ends.push_back(end_of_attempt(run, campaign));
    }
  }
  if (event.empty()) return;
  CampaignView now = current_view(state, campaign, draft.runs);
  if (!is_final(campaign.state)) {
    const CampaignSnapshot snapshot = snapshot_of(state, campaign, draft.runs, steady_seconds());
    now.advised_budget_s = sufficient_budget_s(snapshot).value_or(0);
  }
  draft.changes.events.push_back(
      {0, campaign.number, campaign.updated_unix_s, event, dumped(to_json(now))});
}

void remember(CoreState& state, const Draft& draft) {
  if (is_final(draft.campaign.state)) {
    state.open.erase(draft.campaign.number);
  } else {
    state.open[draft.campaign.number] = {draft.campaign, draft.runs, draft.points};
  }
}

Status commit(CoreState& state, Draft& draft, const std::string& event) {
  add_records(state, draft, event);
  STRIPLINE_RETURN_IF_ERROR(state.store.apply(draft.changes));
  remember(state, draft);
  if (!event.empty()) state.hub.notify(draft.campaign.number);
  return {};
}

CampaignSnapshot snapshot_of(const CoreState& state, const CampaignRecord& record,
                             const std::vector<RunRecord>& runs, double now_s) {
  CampaignSnapshot campaign;
  campaign.number = record.number;
  campaign.spec = record.spec;
  campaign.state = record.state;
  campaign.fabric = network_name(record.spec.fabric);
  // Campaigns of before there were clusters name none.
  if (!record.spec.cluster.empty()) campaign.cluster = record.spec.cluster;
  campaign.when_busy = record.spec.clock == "virtual" ? WhenBusy::measure : record.spec.when_busy;
  campaign.quiet_patience_s = state.waits.patience_left_s(record, now_s);
  for (const std::string& node : record.spec.only_nodes) {
    campaign.only_nodes.insert(*parse_node_name(node));
  }
  campaign.suspects = state.health.suspects(record.number);
  campaign.unfit = state.health.unfit(record.number);
  campaign.overdue = state.waits.is_overdue(record.number, state.options.max_wait_s, now_s);
  campaign.paused = state.waits.is_paused(record.number, now_s);
  campaign.requirements = record.requirements;
  campaign.feeds_model = record.feeds_model;
  campaign.planned_run_s = record.planned_run_s;
  // With just enough runs none can be spared.
  campaign.pilot = record.feeds_model && record.spec.effort != Effort::full &&
                   record.spec.runs > kMinRunsForIntervals;
  // A race begins with a part of the plan (race_plan.h).
  campaign.pilot = campaign.pilot || record.spec.race;
  // A run that has just been charged is active no more, whatever else is known of it.
  const bool running =
      std::ranges::any_of(runs, [](const RunRecord& run) { return run.state == RunState::active; });
  campaign.measured_s =
      record.measured_s + (running ? state.active_seconds(record.number).value_or(0) : 0);
  const auto active = state.active.find(record.number);
  for (const RunRecord& run : runs) {
    RunSnapshot entry;
    entry.run = run.key.run;
    entry.state = run.state;
    entry.failures = run.failures;
    entry.duration_s = run.duration_s;
    entry.start_s = run.start_s;
    entry.points = run.points_total;
    entry.grid = run.grid;
    entry.points_least = run.points_least;
    entry.points_core = run.points_core;
    entry.points_all = run.points_all;
    entry.rank_nodes = run.rank_nodes;
    entry.message = run.message;
    if (run.state == RunState::active && active != state.active.end()) {
      const ActiveRun& now = active->second;
      entry.active_s = state.active_seconds(record.number).value_or(0);
      entry.pace = now.pace.pace();
      entry.complete = now.group.all_finished();
      entry.lost = now.failure ? now.failure->reason : now.group.lost(now_s);
      entry.lost_for_good = now.failure && now.failure->for_good;
      entry.lost_at = now.failure ? now.failure->node : now.group.lost_at(now_s);
      entry.lost_at_will = now.failure && now.failure->at_will;
    }
    campaign.runs.push_back(std::move(entry));
  }
  return campaign;
}

void charge_active_run(const CoreState& state, CampaignRecord& campaign, bool time_counts) {
  if (time_counts) campaign.measured_s += state.active_seconds(campaign.number).value_or(0);
  const auto found = state.active.find(campaign.number);
  if (found != state.active.end()) campaign.samples += found->second.samples;
}

void close_open_runs(const CoreState& state, Draft& d) {
  charge_active_run(state, d.campaign, true);
  for (RunRecord& run : d.runs) {
    if (run.state == RunState::pending || run.state == RunState::active) {
      run.state = RunState::cancelled;
    }
  }
}

void release_group(CoreState& state, int64_t campaign, const std::string& message) {
  const auto found = state.active.find(campaign);
  if (found == state.active.end()) return;
  const RunGroup& group = found->second.group;
  for (const std::string& node : group.nodes()) {
    Session* const session = state.sessions.of_node(node);
    if (session == nullptr || !session->holds(group.run(), group.fence())) continue;
    session->send_cancel(group.run(), group.fence(), message, state.options.lease_s);
  }
  end_active(state, campaign);
}

void end_active(CoreState& state, int64_t campaign) {
  const auto found = state.active.find(campaign);
  if (found == state.active.end()) return;
  const RunKey run = found->second.group.run();
  std::erase_if(state.unsaved_ends, [&](const AttemptFacts& end) { return end.run == run; });
  state.active.erase(found);
}

void forget_waits(CoreState& state, int64_t campaign) {
  state.health.forget(campaign);
  state.waits.forget(campaign);
}

Status end_campaign(CoreState& state, int64_t number, CampaignState end, const std::string& message,
                    const std::string& actor) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft_of(state, number));
  if (!actor.empty()) {
    d.changes.audit.push_back({0, unix_seconds(), actor, "cancel campaign", campaign_name(number)});
  }
  close_open_runs(state, d);
  d.campaign.state = end;
  d.campaign.message = message;
  if (end == CampaignState::cancelled && d.campaign.stop_reason.empty()) {
    d.campaign.stop_reason = to_string(campaign::StopReason::cancelled);
  }
  STRIPLINE_RETURN_IF_ERROR(commit(state, d, message));
  if (end == CampaignState::failed) state.meters.count(Meters::Counter::campaigns_failed);
  spdlog::info("{}: {}: {}", campaign_name(number), to_string(end), message);
  release_group(state, number, "the campaign ended: " + message);
  forget_waits(state, number);
  return {};
}

}  // namespace stripline::server
