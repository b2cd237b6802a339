// What is known of sessions, of the runs that they measure, and of campaigns that have not ended.
// A decision is about all three at once (which node gets which run, what a silent node costs a
// campaign), so that one lock guards them; what need not be decided together has locks of its own.
//
// Locks are taken in this order, and each may be left out: CampaignPlanning's, CoreState's,
// FitOperations', one of ModelRegistry's, FitQueue's, Ingest's and WatchHub's, the store's. None is
// held while an agent or a watcher is waited for, or while samples are read or written.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "server/core/campaigns/campaign_waits.h"
#include "server/core/campaigns/open_campaign.h"
#include "server/core/coordinator_options.h"
#include "server/core/sessions/active_run.h"
#include "server/core/sessions/node_health.h"
#include "server/core/sessions/session_table.h"
#include "server/core/storage_retries.h"
#include "server/core/watch_hub.h"
#include "server/meters.h"
#include "server/store/store.h"

namespace stripline::server {

struct CoreState {
  /// What it refers to must outlive it.
  CoreState(Store& all_stored, WatchHub& watchers, Meters& counts, const CoordinatorOptions& asked)
      : store(all_stored),
        hub(watchers),
        meters(counts),
        options(asked),
        storage(asked.storage_retry_s) {}
  CoreState(const CoreState&) = delete;
  CoreState& operator=(const CoreState&) = delete;
  ~CoreState() = default;

  /// How long an agent may be silent.
  double silent_s() const;

  /// Something has happened of which more may follow: the thread of CampaignSteps sees to it, once
  /// for all that happens until then.
  void want_step() STRIPLINE_REQUIRES(mutex);
  /// The next deadline is another one.
  void change_deadline() STRIPLINE_REQUIRES(mutex);
  /// If it is an error, what was not stored is tried again later.
  void report(const Status& status) STRIPLINE_REQUIRES(mutex);

  /// Nodes are stored when that is possible: agents are served without. Errors: the store's.
  Status save_nodes() STRIPLINE_REQUIRES(mutex);
  /// A server that starts again does not wait for nodes whose part has ended. Errors: the store's.
  Status save_ends() STRIPLINE_REQUIRES(mutex);
  /// Forgets the session, ending its stream if a reason is given.
  void drop_session(uint64_t id, const std::optional<Problem>& why) STRIPLINE_REQUIRES(mutex);

  /// The run that a message from this node belongs to, if its fence is the valid one; else nullptr.
  ActiveRun* active_run(const RunKey& run, uint64_t fence, const std::string& node)
      STRIPLINE_REQUIRES(mutex);
  /// How long the campaign's run has been measuring; nullopt: it has none.
  std::optional<double> active_seconds(int64_t campaign) const STRIPLINE_REQUIRES(mutex);
  /// "cordoned: new NIC"; empty: nothing keeps the node from runs.
  std::string hold_on(const std::string& node) const STRIPLINE_REQUIRES(mutex);

  Store& store;
  WatchHub& hub;
  Meters& meters;
  const CoordinatorOptions options;

  Mutex mutex;
  std::condition_variable_any timer_wakes;
  bool stopping STRIPLINE_GUARDED_BY(mutex) = false;
  bool draining STRIPLINE_GUARDED_BY(mutex) = false;
  bool timer_changed STRIPLINE_GUARDED_BY(mutex) = false;
  bool step_wanted STRIPLINE_GUARDED_BY(mutex) = false;
  StorageRetries storage STRIPLINE_GUARDED_BY(mutex);
  uint64_t nodes_at_start STRIPLINE_GUARDED_BY(mutex) = 0;
  SessionTable sessions STRIPLINE_GUARDED_BY(mutex);
  NodeHealth health STRIPLINE_GUARDED_BY(mutex);
  std::map<std::string, NodeHold> holds STRIPLINE_GUARDED_BY(mutex);  // by node
  std::map<std::string, NodeRecord> unsaved_nodes STRIPLINE_GUARDED_BY(mutex);
  std::vector<AttemptFacts> unsaved_ends
      STRIPLINE_GUARDED_BY(mutex);  // of nodes' parts of runs that others still measure
  std::map<int64_t, ActiveRun> active
      STRIPLINE_GUARDED_BY(mutex);  // by campaign: at most one run each
  std::map<int64_t, OpenCampaign> open STRIPLINE_GUARDED_BY(mutex);
  CampaignWaits waits STRIPLINE_GUARDED_BY(mutex);
};

/// ": new NIC", or nothing.
std::string reason_text(const NodeHold& hold);

}  // namespace stripline::server
