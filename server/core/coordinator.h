// What the server does, put together: agents' sessions, campaigns, models and operations over a
// store. Each part says what it does; this file says which there are, and starts and ends them.
// Everything that must survive is in the store before anyone is notified; sessions, leases and
// joined addresses live in memory, because agents re-establish them.
//
// Thread-safe: all calls may come from any thread; none waits for an agent. core_state.h says in
// which order locks are taken.
#pragma once

#include <optional>

#include "server/core/campaigns/campaign_planning.h"
#include "server/core/campaigns/campaign_steps.h"
#include "server/core/campaigns/campaigns.h"
#include "server/core/coordinator_options.h"
#include "server/core/core_state.h"
#include "server/core/models/campaign_fits.h"
#include "server/core/models/fit_queue.h"
#include "server/core/models/model_registry.h"
#include "server/core/operations/fit_operations.h"
#include "server/core/sessions/agent_sessions.h"
#include "server/core/sessions/fleet.h"
#include "server/core/sessions/run_orders.h"
#include "server/core/sessions/sample_intake.h"

namespace stripline::server {

class Coordinator {
 public:
  /// `store`, `hub` and `meters` must outlive it.
  Coordinator(Store& store, WatchHub& hub, Meters& meters, Fitter fitter,
              const CoordinatorOptions& options);
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  /// Takes up what the store holds: runs that were active when the last server ended go on when
  /// their agents come back; campaigns that were being fitted are fitted. Errors: the store's.
  Status start();
  /// Ends sessions and threads. What was in progress is taken up by the next start().
  void stop();

  /// From now on no run is given out any more. Active ones go on.
  void drain();
  /// True if no run is active.
  bool idle();
  /// Sets the gauges of what it does.
  void measure();
  /// Why nothing can be stored, as the store or its own steps have found; nullopt: everything can.
  std::optional<StorageOutage> storage_outage();
  /// A label has moved, or a version is withdrawn: agents are offered what they are to have now,
  /// and are to remove what is not to be used any more where there is nothing in its place.
  void offer_models();

  AgentSessions& sessions() { return sessions_; }
  Fleet& fleet() { return fleet_; }
  CampaignPlanning& planning() { return planning_; }
  Campaigns& campaigns() { return campaigns_; }
  ModelRegistry& models() { return models_; }
  FitOperations& operations() { return operations_; }

 private:
  void heed_feedback(const std::string& node, const FeedbackReport& report);

  CoreState state_;
  ModelRegistry models_;
  FitQueue fits_;
  RunOrders orders_;
  CampaignSteps steps_;
  CampaignFits campaign_fits_;
  FitOperations operations_;
  CampaignPlanning planning_;
  Campaigns campaigns_;
  Fleet fleet_;
  SampleIntake samples_;
  AgentSessions sessions_;
};

}  // namespace stripline::server
