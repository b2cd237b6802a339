// Campaigns that do not exist yet: planned, estimated, created; planned for those who measure
// elsewhere, and made of what they have measured.
//
// Thread-safe. One campaign is planned at a time, by its own lock: plans have megabytes, and are
// made while agents are being served.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "optimizer/campaign/offline_results.h"
#include "optimizer/campaign/plan_bundle.h"
#include "server/core/campaigns/campaign_estimate.h"
#include "server/core/campaigns/campaign_planner.h"
#include "server/core/campaigns/campaign_steps.h"
#include "server/core/campaigns/campaign_view.h"
#include "server/core/core_state.h"
#include "server/core/models/fit_queue.h"
#include "server/problem.h"

namespace stripline::server {

class CampaignPlanning {
 public:
  /// All must outlive it.
  CampaignPlanning(CoreState& state, CampaignSteps& steps, FitQueue& fits)
      : state_(state), steps_(steps), fits_(fits) {}

  /// Problems: INVALID_FIELD, UNKNOWN_EXPERIMENT, NOT_ENOUGH_NODES, UNSUPPORTED_FABRIC,
  /// REQUEST_ID_REUSED, BUSY, TOO_MANY_CAMPAIGNS, OWNER_QUOTA.
  Answer<CampaignView> create_campaign(const CampaignSpec& spec, const std::string& request_id,
                                       bool validate_only, const std::string& actor);
  /// What it would take; nothing is created. Problems: those of create_campaign() about the spec
  /// and the nodes, BUSY.
  Answer<CampaignEstimate> estimate_campaign(const CampaignSpec& spec);

  /// The plan of a campaign. Problems: CAMPAIGN_NOT_FOUND.
  Answer<campaign::PlanBundle> plan_of_campaign(int64_t number);
  /// The plan of a campaign that is not created, for nodes of which one describes itself so
  /// (offline.h); empty: for those that are connected. Problems: as of estimate_campaign().
  Answer<campaign::PlanBundle> plan_offline(const CampaignSpec& spec,
                                            const std::string& node_description);
  /// A campaign of what was measured, or the one that this file has become before, by the hash of
  /// the file. Problems: those of imported() (offline.h), BUSY, TOO_MANY_CAMPAIGNS, OWNER_QUOTA.
  Answer<CampaignView> import_results(const campaign::OfflineResults& results,
                                      const std::string& sha256, const std::string& actor);

 private:
  // A call that plans, or waits for that, for as long as it lives.
  class Turn {
   public:
    explicit Turn(std::atomic<int>& callers);
    ~Turn() { --callers_; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    /// Each that waits holds a thread that others need: why this one may not.
    const std::optional<Problem>& busy() const { return busy_; }

   private:
    std::atomic<int>& callers_;
    std::optional<Problem> busy_;
  };

  Answer<CampaignPlan> plan(const CampaignSpec& spec, const std::string& node_description)
      STRIPLINE_REQUIRES(planning_);
  Answer<CampaignView> existing_campaign(const std::string& owner, const std::string& request_id,
                                         const std::string& digest)
      STRIPLINE_REQUIRES(state_.mutex);
  Answer<std::vector<NodeOffer>> offers_for(const CampaignSpec& spec)
      STRIPLINE_EXCLUDES(state_.mutex);
  Answer<bool> begin_race(CampaignPlan& plan, const std::vector<NodeOffer>& offers);
  Result<std::optional<CampaignRecord>> nearest_campaign(const CampaignPlan& plan,
                                                         const std::vector<NodeOffer>& offers);
  Result<std::optional<EarlierCampaign>> campaign_like(const CampaignSpec& spec);
  Answer<CampaignView> store_campaign(Draft& draft);

  CoreState& state_;
  CampaignSteps& steps_;
  FitQueue& fits_;
  std::atomic<int> callers_ = 0;  // that plan, or wait for it
  Mutex planning_;                // taken before the state's
};

}  // namespace stripline::server
