#include "server/core/campaigns/campaigns.h"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/quantity.h"
#include "server/clock.h"
#include "server/core/campaigns/campaign_records.h"
#include "server/core/campaigns/run_points.h"

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

std::optional<Problem> no_room(const CoreState& state, const std::string& owner) {
  if (state.open.size() >= state.options.max_campaigns) {
    return Problem{ErrorCode::resource_exhausted,
                   "TOO_MANY_CAMPAIGNS",
                   std::to_string(state.open.size()) +
                       " campaigns have not ended; wait for some, or cancel some",
                   {}};
  }
  const uint64_t quota = state.options.max_queued_per_owner;
  // Earlier versions did not record the owners of campaigns.
  if (quota == 0 || owner.empty() || owner == kServersOwn) return std::nullopt;
  const auto theirs = static_cast<uint64_t>(std::ranges::count_if(
      state.open, [&](const auto& open) { return open.second.campaign.owner == owner; }));
  if (theirs < quota) return std::nullopt;
  return Problem{ErrorCode::resource_exhausted,
                 "OWNER_QUOTA",
                 owner + " has " + std::to_string(theirs) +
                     " campaigns that have not ended, and one owner may have " +
                     std::to_string(quota) + "; wait for some, or cancel some",
                 {{"owner", owner}, {"quota", std::to_string(quota)}}};
}

// Whoever reads what is stored holds up neither agents nor steps meanwhile.
Answer<CampaignView> Campaigns::campaign(int64_t number) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto record, stored_campaign(state_.store, number));
  STRIPLINE_ASSIGN_OR_RETURN(const auto runs, state_.store.runs(number));
  const MutexLock lock(state_.mutex);
  return current_view(state_, record, runs);
}

Answer<std::vector<CampaignView>> Campaigns::campaigns(int64_t before, size_t limit) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto records, state_.store.campaigns(before, limit));
  std::vector<CampaignView> views;
  for (const CampaignRecord& record : records) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto runs, state_.store.runs(record.number));
    const MutexLock lock(state_.mutex);
    views.push_back(current_view(state_, record, runs));
  }
  return views;
}

// The campaign as it is once what follows has been decided.
Answer<CampaignView> Campaigns::answered(int64_t number, const Answer<Outcome>& outcome) {
  if (!outcome) return outcome.problem();
  if (*outcome == Outcome::changed) steps_.step();
  return campaign(number);
}

// Stores that the campaign is in this state now, because somebody wants it.
Answer<Campaigns::Outcome> Campaigns::put_in_state(int64_t number, CampaignState to,
                                                   const std::string& message,
                                                   const AuditRecord& audit) {
  STRIPLINE_ASSIGN_OR_RETURN(auto d, draft_of(state_, number));
  d.campaign.state = to;
  d.campaign.message = message + "; " + finished_text(d.runs);
  d.changes.audit.push_back(audit);
  STRIPLINE_RETURN_IF_ERROR(commit(state_, d, d.campaign.message));
  spdlog::info("{}: {}: {}", campaign_name(number), to_string(to), d.campaign.message);
  state_.waits.stop_waiting(number, steady_seconds());
  return Outcome::changed;
}

Answer<Campaigns::Outcome> Campaigns::cancel(int64_t number, bool drain, const std::string& actor) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto record, stored_campaign(state_.store, number));
  if (record.state == CampaignState::succeeded || record.state == CampaignState::failed) {
    return has_ended(record, "there is nothing to cancel");
  }
  if (drain && state_.active.contains(number)) {
    if (record.state == CampaignState::draining) return Outcome::nothing;
    return put_in_state(number, CampaignState::draining,
                        "it is cancelled once its running run has ended",
                        {0, unix_seconds(), actor, "drain campaign", campaign_name(number)});
  }
  if (record.state == CampaignState::cancelled) return Outcome::nothing;
  const Status ended = end_campaign(state_, number, CampaignState::cancelled,
                                    "cancelled on request; samples are kept", actor);
  if (!ended.ok()) return ended.error();
  return Outcome::changed;
}

Answer<CampaignView> Campaigns::cancel_campaign(int64_t number, bool drain,
                                                const std::string& actor) {
  const auto outcome = [&] {
    const MutexLock lock(state_.mutex);
    return cancel(number, drain, actor);
  }();
  return answered(number, outcome);
}

Answer<Campaigns::Outcome> Campaigns::pause(int64_t number, const std::string& actor) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto record, stored_campaign(state_.store, number));
  if (auto problem = no_runs_to_come(record)) return std::move(*problem);
  if (record.state == CampaignState::paused) return Outcome::nothing;
  return put_in_state(number, CampaignState::paused,
                      state_.active.contains(number)
                          ? "paused on request once its running run has ended"
                          : "paused on request",
                      {0, unix_seconds(), actor, "pause campaign", campaign_name(number)});
}

Answer<CampaignView> Campaigns::pause_campaign(int64_t number, const std::string& actor) {
  const auto outcome = [&] {
    const MutexLock lock(state_.mutex);
    return pause(number, actor);
  }();
  return answered(number, outcome);
}

Answer<Campaigns::Outcome> Campaigns::resume(int64_t number, const std::string& actor) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto record, stored_campaign(state_.store, number));
  if (auto problem = no_runs_to_come(record)) return std::move(*problem);
  if (record.state != CampaignState::paused) return Outcome::nothing;
  STRIPLINE_ASSIGN_OR_RETURN(const auto runs, state_.store.runs(number));
  return put_in_state(number, state_of_runs(runs), "resumed",
                      {0, unix_seconds(), actor, "resume campaign", campaign_name(number)});
}

Answer<CampaignView> Campaigns::resume_campaign(int64_t number, const std::string& actor) {
  const auto outcome = [&] {
    const MutexLock lock(state_.mutex);
    return resume(number, actor);
  }();
  return answered(number, outcome);
}

// Samples are read without the lock: a campaign that has ended changes by this call alone.
Answer<CampaignView> Campaigns::retry_campaign(const RetryOrder& order, const std::string& actor) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto record, stored_campaign(state_.store, order.campaign));
  if (auto problem = nothing_to_retry(record)) return std::move(*problem);
  STRIPLINE_ASSIGN_OR_RETURN(const auto runs, state_.store.runs(order.campaign));
  const auto points = read_points(state_.store, record, runs);
  if (!points.ok() && points.error().code() != ErrorCode::data_loss) return points.error();
  {
    const MutexLock lock(state_.mutex);
    STRIPLINE_ASSIGN_OR_RETURN(auto d, draft_of(state_, order.campaign));
    const auto finished = [](const RunRecord& run) { return run.state == RunState::finished; };
    // Without them it measures what was planned.
    if (points.ok() && std::ranges::any_of(d.runs, finished)) d.points = *points;
    if (auto problem = reopen(d, order, actor)) return std::move(*problem);
    STRIPLINE_RETURN_IF_ERROR(commit(state_, d, d.campaign.message));
    spdlog::info("{}: {}", campaign_name(order.campaign), d.campaign.message);
  }
  return answered(order.campaign, Outcome::changed);
}

// Makes a campaign that has ended one that goes on. Problems: why it cannot.
std::optional<Problem> Campaigns::reopen(Draft& d, const RetryOrder& order,
                                         const std::string& actor) const {
  CampaignRecord& campaign = d.campaign;
  if (auto problem = nothing_to_retry(campaign)) return problem;
  if (auto full = no_room(state_, campaign.owner)) return full;
  campaign::change_budgets(campaign.spec, order.budgets);
  campaign.spec.left_out.clear();
  STRIPLINE_RETURN_IF_ERROR(complete_spec(campaign.spec));
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
  CampaignSnapshot now = snapshot_of(state_, campaign, d.runs, steady_seconds());
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
Answer<CampaignView> Campaigns::label_campaign(int64_t number, std::vector<std::string> labels,
                                               const std::string& actor) {
  std::ranges::sort(labels);
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
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
    const MutexLock lock(state_.mutex);
    STRIPLINE_RETURN_IF_ERROR(stored_campaign(state_.store, number));
    STRIPLINE_ASSIGN_OR_RETURN(auto d, draft_of(state_, number));
    if (d.campaign.labels != labels) {
      d.campaign.labels = std::move(labels);
      d.changes.campaigns.push_back(d.campaign);
      d.changes.audit.push_back(
          {0, unix_seconds(), actor, "label campaign", campaign_name(number)});
      if (const Status stored = state_.store.apply(d.changes); !stored.ok()) return stored.error();
      remember(state_, d);
    }
  }
  return campaign(number);
}

Answer<bool> Campaigns::delete_campaign(int64_t number, const std::string& actor) {
  const MutexLock lock(state_.mutex);
  STRIPLINE_ASSIGN_OR_RETURN(const auto record, stored_campaign(state_.store, number));
  if (!is_final(record.state)) return has_not_ended(record, "'stripline campaign cancel' ends it");
  STRIPLINE_ASSIGN_OR_RETURN(const auto versions, state_.store.versions_of(number));
  if (!versions.empty()) {
    return state_forbids(
        record, "CAMPAIGN_IN_USE",
        "is what " + version_name(versions.front()) + " was fitted to, and stays as long as that");
  }
  STRIPLINE_RETURN_IF_ERROR(remove(record, {0, unix_seconds(), actor, "delete campaign", {}}));
  return true;
}

Result<bool> Campaigns::delete_expendable(int64_t number, const std::string& actor,
                                          const std::string& why) {
  const MutexLock lock(state_.mutex);
  STRIPLINE_ASSIGN_OR_RETURN(const auto record, state_.store.campaign(number));
  if (!record || !is_final(record->state)) return false;
  STRIPLINE_ASSIGN_OR_RETURN(const auto versions, state_.store.versions_of(number));
  if (!versions.empty()) return false;
  STRIPLINE_RETURN_IF_ERROR(
      remove(*record, {0, unix_seconds(), actor, "delete campaign: " + why, {}}));
  return true;
}

Status Campaigns::remove(const CampaignRecord& campaign, AuditRecord audit) {
  audit.object = campaign_name(campaign.number);
  Changes changes;
  changes.deleted_campaigns.push_back(campaign.number);
  changes.audit.push_back(audit);
  STRIPLINE_RETURN_IF_ERROR(state_.store.apply(changes));
  state_.meters.count(Meters::Counter::campaigns_deleted);
  state_.meters.count(Meters::Counter::samples_deleted, static_cast<double>(campaign.samples));
  spdlog::info("{} is deleted, with {}: {}", audit.object, count_text(campaign.samples, "sample"),
               audit.action);
  return {};
}

}  // namespace stripline::server
