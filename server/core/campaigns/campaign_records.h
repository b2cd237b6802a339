// Campaigns as they are in the store, read once and written through, as they are shown, and as
// those who decide see them. The caller holds the state's lock.
#pragma once

#include <string>
#include <vector>

#include "server/core/campaigns/campaign_view.h"
#include "server/core/campaigns/scheduler.h"
#include "server/core/core_state.h"
#include "server/problem.h"

namespace stripline::server {

/// The record of a campaign. Problems: CAMPAIGN_NOT_FOUND, the store's. Thread-safe.
Answer<CampaignRecord> stored_campaign(Store& store, int64_t number);

/// Errors: the store's; internal when there is no such campaign.
Result<Draft> draft_of(CoreState& state, int64_t campaign) STRIPLINE_REQUIRES(state.mutex);

/// Adds what has changed of the campaign to the draft's changes, the end of an attempt with the run
/// that is not active any more, and an event that carries the campaign as it is now. An empty event
/// is none.
void add_records(const CoreState& state, Draft& draft, const std::string& event)
    STRIPLINE_REQUIRES(state.mutex);
/// The draft has been stored.
void remember(CoreState& state, const Draft& draft) STRIPLINE_REQUIRES(state.mutex);
/// Writes the draft, and notifies watchers if there is an event. Errors: the store's.
Status commit(CoreState& state, Draft& draft, const std::string& event)
    STRIPLINE_REQUIRES(state.mutex);

/// What is stored of the campaign and its runs, and what is known of the active one.
CampaignView current_view(const CoreState& state, const CampaignRecord& campaign,
                          const std::vector<RunRecord>& runs) STRIPLINE_REQUIRES(state.mutex);
CampaignSnapshot snapshot_of(const CoreState& state, const CampaignRecord& record,
                             const std::vector<RunRecord>& runs, double now_s)
    STRIPLINE_REQUIRES(state.mutex);

/// Runs that have not finished are not made any more; what the active one took is charged.
void close_open_runs(const CoreState& state, Draft& draft) STRIPLINE_REQUIRES(state.mutex);
/// The time (if it counts) and the samples of a run that is not to be finished.
void charge_active_run(const CoreState& state, CampaignRecord& campaign, bool time_counts)
    STRIPLINE_REQUIRES(state.mutex);
/// The run of the campaign is not measured any more; nodes that still work on it are asked to stop.
void release_group(CoreState& state, int64_t campaign, const std::string& message)
    STRIPLINE_REQUIRES(state.mutex);
/// The same when all of them have ended.
void end_active(CoreState& state, int64_t campaign) STRIPLINE_REQUIRES(state.mutex);
/// What is only remembered while a campaign measures.
void forget_waits(CoreState& state, int64_t campaign) STRIPLINE_REQUIRES(state.mutex);

/// `actor` is the user who asked for it, if one did. Errors: the store's.
Status end_campaign(CoreState& state, int64_t number, CampaignState end, const std::string& message,
                    const std::string& actor = "") STRIPLINE_REQUIRES(state.mutex);

}  // namespace stripline::server
