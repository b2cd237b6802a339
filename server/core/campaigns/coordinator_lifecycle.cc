// The coordinator's side of what operators do to campaigns that exist.
#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/quantity.h"
#include "server/clock.h"
#include "server/core/coordinator.h"

namespace stripline::server {
namespace {

constexpr size_t kMaxLabels = 16;
// A message repeats no more of what is not valid.
constexpr size_t kMaxQuoted = 80;

Problem state_forbids(const CampaignRecord& campaign, const std::string& reason,
                      const std::string& message) {
  const std::string state(to_string(campaign.state));
  return {ErrorCode::failed_precondition,
          reason,
          campaign_name(campaign.number) + " " + message,
          {{"state", state}}};
}

Problem has_ended(const CampaignRecord& campaign, const std::string& consequence) {
  return state_forbids(
      campaign, "CAMPAIGN_FINISHED",
      "has ended already, as " + std::string(to_string(campaign.state)) + "; " + consequence);
}

Problem has_not_ended(const CampaignRecord& campaign, const std::string& advice) {
  return state_forbids(
      campaign, "CAMPAIGN_RUNNING",
      "has not ended, it is " + std::string(to_string(campaign.state)) + "; " + advice);
}

// Why runs of it can be neither paused nor resumed.
std::optional<Problem> no_runs_to_come(const CampaignRecord& campaign) {
  if (is_final(campaign.state)) return has_ended(campaign, "no run is to come");
  if (campaign.state == CampaignState::fitting) {
    return state_forbids(campaign, "CAMPAIGN_FINISHED",
                         "has measured all, and its model is being fitted; no run is to come");
  }
  if (campaign.state == CampaignState::draining) {
    return state_forbids(campaign, "CAMPAIGN_DRAINING",
                         "is being cancelled; 'stripline campaign retry' takes it up when that is "
                         "done");
  }
  return std::nullopt;
}

std::optional<Problem> nothing_to_retry(const CampaignRecord& campaign) {
  if (!is_final(campaign.state)) return has_not_ended(campaign, "there is nothing to retry");
  if (campaign.state == CampaignState::succeeded) {
    return has_ended(campaign, "'stripline campaign run' starts another one");
  }
  return std::nullopt;
}

std::string finished_text(const std::vector<RunRecord>& runs) {
  const auto finished = std::ranges::count_if(
      runs, [](const RunRecord& run) { return run.state == RunState::finished; });
  return std::to_string(finished) + " of " + std::to_string(runs.size()) + " runs are measured";
}

CampaignState state_of_runs(const std::vector<RunRecord>& runs) {
  const bool started =
      std::ranges::any_of(runs, [](const RunRecord& run) { return run.fence > 0; });
  return started ? CampaignState::running : CampaignState::queued;
}

}  // namespace

// Stores that the campaign is in this state now, because somebody wants it.
Status Coordinator::put_in_state(int64_t number, CampaignState state, const std::string& message,
                                 const AuditRecord& audit) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft(number));
  d.campaign.state = state;
  d.campaign.message = message + "; " + finished_text(d.runs);
  d.changes.audit.push_back(audit);
  STRIPLINE_RETURN_IF_ERROR(commit(d, d.campaign.message));
  spdlog::info("{}: {}: {}", campaign_name(number), to_string(state), d.campaign.message);
  waiting_since_s_.erase(number);
  end_quiet_wait(number);
  step();
  return {};
}

Answer<CampaignView> Coordinator::cancel_campaign(int64_t number, bool drain,
                                                  const std::string& actor) {
  {
    const MutexLock lock(mutex_);
    const auto record = stored_campaign(number);
    if (!record) return record.problem();
    if (record->state == CampaignState::succeeded || record->state == CampaignState::failed) {
      return has_ended(*record, "there is nothing to cancel");
    }
    Status status;
    if (drain && active_.contains(number)) {
      if (record->state != CampaignState::draining) {
        status = put_in_state(number, CampaignState::draining,
                              "it is cancelled once its running run has ended",
                              {0, unix_seconds(), actor, "drain campaign", campaign_name(number)});
      }
    } else if (record->state != CampaignState::cancelled) {
      status = end_campaign(number, CampaignState::cancelled,
                            "cancelled on request; samples are kept", actor);
      if (status.ok()) step();
    }
    if (!status.ok()) return status.error();
  }
  return campaign(number);
}

Answer<CampaignView> Coordinator::pause_campaign(int64_t number, const std::string& actor) {
  {
    const MutexLock lock(mutex_);
    const auto record = stored_campaign(number);
    if (!record) return record.problem();
    if (auto problem = no_runs_to_come(*record)) return std::move(*problem);
    if (record->state != CampaignState::paused) {
      const Status status =
          put_in_state(number, CampaignState::paused,
                       active_.contains(number) ? "paused on request once its running run has ended"
                                                : "paused on request",
                       {0, unix_seconds(), actor, "pause campaign", campaign_name(number)});
      if (!status.ok()) return status.error();
    }
  }
  return campaign(number);
}

Answer<CampaignView> Coordinator::resume_campaign(int64_t number, const std::string& actor) {
  {
    const MutexLock lock(mutex_);
    const auto record = stored_campaign(number);
    if (!record) return record.problem();
    if (auto problem = no_runs_to_come(*record)) return std::move(*problem);
    if (record->state == CampaignState::paused) {
      const auto runs = store_.runs(number);
      if (!runs.ok()) return runs.error();
      const Status status =
          put_in_state(number, state_of_runs(*runs), "resumed",
                       {0, unix_seconds(), actor, "resume campaign", campaign_name(number)});
      if (!status.ok()) return status.error();
    }
  }
  return campaign(number);
}

// Samples are read without the lock: a campaign that has ended changes by this call alone.
Answer<CampaignView> Coordinator::retry_campaign(const RetryOrder& order,
                                                 const std::string& actor) {
  const auto record = stored_campaign(order.campaign);
  if (!record) return record.problem();
  if (auto problem = nothing_to_retry(*record)) return std::move(*problem);
  const auto runs = store_.runs(order.campaign);
  if (!runs.ok()) return runs.error();
  const auto points = read_points(*record, *runs);
  if (!points.ok() && points.error().code() != ErrorCode::data_loss) return points.error();
  {
    const MutexLock lock(mutex_);
    auto d = draft(order.campaign);
    if (!d.ok()) return d.error();
    const auto finished = [](const RunRecord& run) { return run.state == RunState::finished; };
    // Without them it measures what was planned.
    if (points.ok() && std::ranges::any_of(d->runs, finished)) d->points = *points;
    if (auto problem = reopen(*d, order, actor)) return std::move(*problem);
    const Status status = commit(*d, d->campaign.message);
    if (!status.ok()) return status.error();
    spdlog::info("{}: {}", campaign_name(order.campaign), d->campaign.message);
    step();
  }
  return campaign(order.campaign);
}

// Makes a campaign that has ended one that goes on. Problems: why it cannot.
std::optional<Problem> Coordinator::reopen(Draft& d, const RetryOrder& order,
                                           const std::string& actor) const {
  CampaignRecord& campaign = d.campaign;
  if (auto problem = nothing_to_retry(campaign)) return problem;
  if (auto full = no_room(campaign.owner)) return full;
  if (order.time_budget_s != 0) campaign.spec.time_budget_s = order.time_budget_s;
  if (order.node_budget_s != 0) campaign.spec.node_budget_s = order.node_budget_s;
  campaign.spec.left_out.clear();
  const auto spec = complete_spec(campaign.spec);
  if (!spec) return spec.problem();
  for (RunRecord& run : d.runs) {
    if (run.state != RunState::failed && run.state != RunState::cancelled) continue;
    // What an attempt that was given up has sent is no part of the next one.
    if (run.fence > 0) d.changes.orphaned.push_back(run.key);
    run.state = RunState::pending;
    run.failures = 0;
    run.points_done = 0;
    run.message.clear();
  }
  campaign.state = state_of_runs(d.runs);
  campaign.stop_reason.clear();
  campaign.fit_failures = 0;
  ++campaign.retries;
  CampaignSnapshot now = snapshot_of(campaign, d.runs, steady_seconds());
  now.points = d.points;
  if (const campaign::Next next = next_of(now); next.done && !next.usable) {
    const auto advice = sufficient_budget_s(now);
    return state_forbids(
        campaign, "BUDGET_USED_UP",
        "has used up its budget: " + exact_seconds_text(budget_s(campaign.spec)) + " of running" +
            (advice ? "; ask for " + budget_text(campaign.spec, *advice) + " or more"
                    : "; ask for a larger one"));
  }
  campaign.message = "tried again on request; " + finished_text(d.runs);
  d.changes.audit.push_back(
      {0, unix_seconds(), actor, "retry campaign", campaign_name(campaign.number)});
  return std::nullopt;
}

// No event: what it is called is no news of its measuring, and its end stays its last event.
Answer<CampaignView> Coordinator::label_campaign(int64_t number, std::vector<std::string> labels,
                                                 const std::string& actor) {
  std::ranges::sort(labels);
  const auto repeated = std::ranges::unique(labels);
  labels.erase(repeated.begin(), repeated.end());
  if (labels.size() > kMaxLabels) {
    return invalid_field("labels", "at most " + std::to_string(kMaxLabels) + " are possible");
  }
  for (const std::string& label : labels) {
    if (!is_segment(label)) {
      return invalid_field("labels", "'" + label.substr(0, kMaxQuoted) +
                                         "' is not a valid label; it must match "
                                         "[a-z0-9][a-z0-9._-]{0,62}");
    }
  }
  {
    const MutexLock lock(mutex_);
    const auto record = stored_campaign(number);
    if (!record) return record.problem();
    auto d = draft(number);
    if (!d.ok()) return d.error();
    if (d->campaign.labels != labels) {
      d->campaign.labels = std::move(labels);
      d->changes.campaigns.push_back(d->campaign);
      d->changes.audit.push_back(
          {0, unix_seconds(), actor, "label campaign", campaign_name(number)});
      if (const Status stored = store_.apply(d->changes); !stored.ok()) return stored.error();
      remember(*d);
    }
  }
  return campaign(number);
}

Answer<bool> Coordinator::delete_campaign(int64_t number, const std::string& actor) {
  const MutexLock lock(mutex_);
  const auto record = stored_campaign(number);
  if (!record) return record.problem();
  if (!is_final(record->state)) {
    return has_not_ended(*record, "'stripline campaign cancel' ends it");
  }
  const auto versions = store_.versions_of(number);
  if (!versions.ok()) return versions.error();
  if (!versions->empty()) {
    return state_forbids(
        *record, "CAMPAIGN_IN_USE",
        "is what " + version_name(versions->front()) + " was fitted to, and stays as long as that");
  }
  const Status status = remove(*record, {0, unix_seconds(), actor, "delete campaign", {}});
  if (!status.ok()) return status.error();
  return true;
}

Result<bool> Coordinator::delete_expendable(int64_t number, const std::string& actor,
                                            const std::string& why) {
  const MutexLock lock(mutex_);
  STRIPLINE_ASSIGN_OR_RETURN(const auto record, store_.campaign(number));
  if (!record || !is_final(record->state)) return false;
  STRIPLINE_ASSIGN_OR_RETURN(const auto versions, store_.versions_of(number));
  if (!versions.empty()) return false;
  STRIPLINE_RETURN_IF_ERROR(
      remove(*record, {0, unix_seconds(), actor, "delete campaign: " + why, {}}));
  return true;
}

Status Coordinator::remove(const CampaignRecord& campaign, AuditRecord audit) {
  audit.object = campaign_name(campaign.number);
  Changes changes;
  changes.deleted_campaigns.push_back(campaign.number);
  changes.audit.push_back(audit);
  STRIPLINE_RETURN_IF_ERROR(store_.apply(changes));
  meters_.count(Meters::Counter::campaigns_deleted);
  meters_.count(Meters::Counter::samples_deleted, static_cast<double>(campaign.samples));
  spdlog::info("{} is deleted, with {}: {}", audit.object, count_text(campaign.samples, "sample"),
               audit.action);
  return {};
}

}  // namespace stripline::server
