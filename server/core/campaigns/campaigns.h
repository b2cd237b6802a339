// Campaigns that exist, and what users do with them (campaigns.proto).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/core/campaigns/campaign_steps.h"
#include "server/core/campaigns/campaign_view.h"
#include "server/core/core_state.h"
#include "server/problem.h"

namespace stripline::server {

/// A campaign that failed or was cancelled is to go on, within these budgets from its beginning on;
/// 0: as they were. Nothing else of `budgets` counts.
struct RetryOrder {
  int64_t campaign = 0;
  CampaignSpec budgets = {};
};

/// Why `owner` can have no further campaign that has not ended; nullopt: he can.
std::optional<Problem> no_room(const CoreState& state, const std::string& owner)
    STRIPLINE_REQUIRES(state.mutex);

/// Thread-safe. `actor` is who does it, for the audit trail.
class Campaigns {
 public:
  /// Both must outlive it.
  Campaigns(CoreState& state, CampaignSteps& steps) : state_(state), steps_(steps) {}

  /// Problems: CAMPAIGN_NOT_FOUND.
  Answer<CampaignView> campaign(int64_t number);
  /// Newest first, below `before` (0: all).
  Answer<std::vector<CampaignView>> campaigns(int64_t before, size_t limit);
  /// `drain`: the run that is in progress ends first. Problems: CAMPAIGN_NOT_FOUND,
  /// CAMPAIGN_FINISHED.
  Answer<CampaignView> cancel_campaign(int64_t number, bool drain, const std::string& actor);
  /// Problems: CAMPAIGN_NOT_FOUND, CAMPAIGN_FINISHED, CAMPAIGN_DRAINING.
  Answer<CampaignView> pause_campaign(int64_t number, const std::string& actor);
  Answer<CampaignView> resume_campaign(int64_t number, const std::string& actor);
  /// Problems: CAMPAIGN_NOT_FOUND, CAMPAIGN_RUNNING, CAMPAIGN_FINISHED, BUDGET_USED_UP,
  /// INVALID_FIELD, TOO_MANY_CAMPAIGNS, OWNER_QUOTA.
  Answer<CampaignView> retry_campaign(const RetryOrder& order, const std::string& actor);
  /// Its labels are these from now on, in order and each once. Problems: CAMPAIGN_NOT_FOUND,
  /// INVALID_FIELD.
  Answer<CampaignView> label_campaign(int64_t number, std::vector<std::string> labels,
                                      const std::string& actor);
  /// Problems: CAMPAIGN_NOT_FOUND, CAMPAIGN_RUNNING, CAMPAIGN_IN_USE.
  Answer<bool> delete_campaign(int64_t number, const std::string& actor);
  /// The same of one that need not be kept: false if it has not ended, goes on again, is there no
  /// more, or a model was fitted to it. Errors: the store's.
  Result<bool> delete_expendable(int64_t number, const std::string& actor, const std::string& why);

 private:
  // What a call has done: nothing, or something that a step follows.
  enum class Outcome { nothing, changed };
  Answer<CampaignView> answered(int64_t number, const Answer<Outcome>& outcome);
  Answer<Outcome> cancel(int64_t number, bool drain, const std::string& actor)
      STRIPLINE_REQUIRES(state_.mutex);
  Answer<Outcome> pause(int64_t number, const std::string& actor) STRIPLINE_REQUIRES(state_.mutex);
  Answer<Outcome> resume(int64_t number, const std::string& actor) STRIPLINE_REQUIRES(state_.mutex);
  Answer<Outcome> put_in_state(int64_t number, CampaignState to, const std::string& message,
                               const AuditRecord& audit) STRIPLINE_REQUIRES(state_.mutex);
  std::optional<Problem> reopen(Draft& draft, const RetryOrder& order,
                                const std::string& actor) const STRIPLINE_REQUIRES(state_.mutex);
  Status remove(const CampaignRecord& campaign, AuditRecord audit) STRIPLINE_REQUIRES(state_.mutex);

  CoreState& state_;
  CampaignSteps& steps_;
};

}  // namespace stripline::server
