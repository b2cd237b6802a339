// The heart of the server: agents' sessions, campaigns and the fitting thread, joined by the
// scheduler's decisions. Everything that must survive is in the store before anyone is notified;
// sessions, leases and joined addresses live in memory, because agents re-establish them.
//
// Thread-safe: all calls may come from any thread and take one lock; none waits for an agent. What
// agents say is noted at once; one thread decides what follows from it, and from leases, timeouts
// and budgets that end. It sleeps for ever when nothing is in progress. Samples go to the disk on a
// thread of their own (ingest.h), without the lock; another thread fits models.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/mutex.h"
#include "base/unguessable.h"
#include "optimizer/campaign/offline_results.h"
#include "optimizer/campaign/plan_bundle.h"
#include "optimizer/campaign/point_table.h"
#include "optimizer/campaign/run_pace.h"
#include "optimizer/experiment/experiment.h"
#include "server/core/campaigns/campaign_estimate.h"
#include "server/core/campaigns/campaign_planner.h"
#include "server/core/campaigns/campaign_view.h"
#include "server/core/campaigns/planned_points.h"
#include "server/core/campaigns/scheduler.h"
#include "server/core/models/fit_job.h"
#include "server/core/models/fit_order.h"
#include "server/core/models/known_models.h"
#include "server/core/models/rollout.h"
#include "server/core/sessions/agent_messages.h"
#include "server/core/sessions/declarations.h"
#include "server/core/sessions/fingerprint_rules.h"
#include "server/core/sessions/ingest.h"
#include "server/core/sessions/node_health.h"
#include "server/core/sessions/run_group.h"
#include "server/core/watch_hub.h"
#include "server/meters.h"
#include "server/problem.h"
#include "server/store/operation_records.h"
#include "server/store/store.h"

namespace stripline::server {

/// The owner of what the server does by itself.
inline constexpr std::string_view kServersOwn = "server";

struct CoordinatorOptions {
  double heartbeat_interval_s = 5;  ///< Sessions silent for three times as long are closed.
  double lease_s = 15;              ///< See Assignment.lease_s in agents.proto.
  double join_timeout_s = 20;       ///< See Assignment.join_timeout_s.
  /// Agents that worked on a run when the server ended have so much more time, once it has started
  /// again: they try to connect at most so far apart.
  double reconnect_s = 15;
  uint32_t max_failures = 3;  ///< A run lost or failed this many times fails its campaign.
  /// From the first failure of a run to its next attempt; twice as long after each further one.
  double retry_pause_s = 1;
  double max_wait_s = 7 * 86400;  ///< A campaign that waits for nodes for this long has failed.
  uint64_t max_nodes = 10'000;    ///< Names of nodes that are remembered.
  uint64_t max_campaigns = 1000;  ///< That have not ended.
  /// The same of one owner; 0: as many as of all. The server's own are not counted.
  uint64_t max_queued_per_owner = 100;
  double storage_retry_s = 5;  ///< What could not be stored is tried again after this long.
};

/// A campaign that failed or was cancelled is to go on, within these budgets from its beginning on;
/// 0: as they were.
struct RetryOrder {
  int64_t campaign = 0;
  double time_budget_s = 0;
  double node_budget_s = 0;
};

/// A model that a node is to have.
struct NodeModelView {
  VersionKey key;
  std::string label;
  std::string fabric;
  std::optional<NodeModelRecord> answer;  ///< Nullopt: there is none yet.
  std::string unfit = {};                 ///< Why it should not be used any more; empty: it may.
};

/// A node as users see it.
struct NodeView {
  NodeRecord record;
  bool connected = false;
  std::string assignment;        ///< Name of what it works on, or empty.
  std::string quarantine;        ///< Why no run is given to it now; empty: there is no reason.
  std::optional<NodeHold> hold;  ///< It gets no new runs.
  std::vector<NodeModelView> models = {};
};

/// An event of a run's progress at most so often.
inline constexpr double kProgressEventS = 0.5;

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

  // Agents (agents.proto says what each message means).

  /// A stream has been opened. It is closed if its Hello takes longer than a session may be silent.
  void await_hello(const std::shared_ptr<AgentLink>& link);
  /// A stream's Hello. On success HelloAck has been sent. Problems: NODE_IN_USE, PROTOCOL_VERSION,
  /// INVALID_FIELD, TOO_MANY_NODES.
  Answer<uint64_t> open_session(const Hello& hello, std::shared_ptr<AgentLink> link);
  /// A later message; ignored when the session has been closed in between.
  void receive(uint64_t session, const AgentMessage& message);
  /// The stream has ended. Leases go on until they run out.
  void close_session(uint64_t session);

  // Campaigns (campaigns.proto). `actor` is who does it, for the audit trail.

  /// Problems: INVALID_FIELD, UNKNOWN_EXPERIMENT, NOT_ENOUGH_NODES, UNSUPPORTED_FABRIC,
  /// REQUEST_ID_REUSED, BUSY, TOO_MANY_CAMPAIGNS, OWNER_QUOTA.
  Answer<CampaignView> create_campaign(const CampaignSpec& spec, const std::string& request_id,
                                       bool validate_only, const std::string& actor);
  /// Problems: CAMPAIGN_NOT_FOUND.
  Answer<CampaignView> campaign(int64_t number);
  /// Newest first, below `before` (0: all).
  Answer<std::vector<CampaignView>> campaigns(int64_t before, size_t limit);
  /// What it would take, told without starting it. Problems: those of create_campaign() about the
  /// spec and the nodes, BUSY.
  Answer<CampaignEstimate> estimate_campaign(const CampaignSpec& spec);
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

  // Campaigns that are measured without this server.

  /// The plan of a campaign. Problems: CAMPAIGN_NOT_FOUND.
  Answer<campaign::PlanBundle> plan_of_campaign(int64_t number);
  /// The plan of a campaign that is not created, for nodes of which one describes itself so
  /// (offline.h); empty: for those that are connected. Problems: as of estimate_campaign().
  Answer<campaign::PlanBundle> plan_offline(const CampaignSpec& spec,
                                            const std::string& node_description);
  /// A campaign of what was measured, or the one that this file has become before, by the hash of
  /// the file. Problems: those of imported() (offline.h), BUSY, TOO_MANY_CAMPAIGNS,
  /// OWNER_QUOTA.
  Answer<CampaignView> import_results(const campaign::OfflineResults& results,
                                      const std::string& sha256, const std::string& actor);

  /// Fits a model to several campaigns, as an operation that the store keeps. Problems: those of
  /// joint_spec() (fit_order.h), CAMPAIGN_NOT_FOUND, OTHER_FABRIC, REQUEST_ID_REUSED, BUSY.
  Answer<OperationRecord> fit_model(const FitOrder& order, const std::string& request_id,
                                    const std::string& actor);
  /// It comes to nothing; once it is cancelled this changes nothing. Problems: OPERATION_NOT_FOUND,
  /// OPERATION_FINISHED.
  Answer<OperationRecord> cancel_operation(int64_t number, const std::string& actor);

  // Fleet (fleet.proto).

  /// By name, from the first after `after` on.
  Answer<std::vector<NodeView>> nodes(const std::string& after, size_t limit);
  /// Problems: NODE_NOT_FOUND.
  Answer<NodeView> node(const std::string& name);
  /// It gets no new runs, whoever connects from it. Problems: NODE_NOT_FOUND, INVALID_FIELD.
  Answer<NodeView> hold_node(const NodeHold& hold);
  /// It gets runs again. Problems: NODE_NOT_FOUND.
  Answer<NodeView> release_node(const std::string& name, const std::string& actor);
  /// Problems: NODE_NOT_FOUND, NODE_CONNECTED.
  Answer<bool> remove_node(const std::string& name, const std::string& actor);

  // Models (models.proto).

  /// A label has moved, or a version is withdrawn: agents are offered what they are to have now,
  /// and told to remove what is not to be used any more where there is nothing in its place.
  void offer_models();
  /// What nodes have answered to the offer of a version.
  std::vector<NodeModelRecord> answers_to(const VersionKey& version);
  /// Models that nodes are not offered, because something is stored of them that cannot be read:
  /// what, by their names.
  std::map<std::string, std::string> unreadable_models();
  /// Connected ones to which models of this fabric are offered.
  std::vector<std::string> nodes_for_models(const std::string& fabric);

 private:
  // An assignment at a node, until the agent says that it has ended.
  struct Holding {
    RunKey run;
    uint64_t fence = 0;
    std::optional<double> cancel_deadline_s;  // cancelled, and to be ended by then
  };
  struct Session {
    uint64_t id = 0;
    NodeRecord record;
    std::string instance_id;
    std::shared_ptr<AgentLink> link;
    std::shared_ptr<const Declared> declared;
    std::shared_ptr<const std::set<std::string>> fabrics;
    double last_heard_s = 0;
    std::optional<double> available_until_s;
    bool leaving = false;  // it gets no new runs
    bool takes_models = false;
    std::map<std::string, std::string> models;  // that it has, as in Hello
    uint64_t offered = 0;                       // the labels_moved_ of the last offers
    std::map<std::string, std::string> offers;  // the last version of each fabric
    std::optional<Holding> holding;
    std::optional<HostLoad> host_load;  // as it last said
  };
  // A stream that has yet to say Hello.
  struct Stranger {
    std::weak_ptr<AgentLink> link;
    double deadline_s = 0;
  };
  struct Failure {
    std::string reason;
    bool for_good = false;            // another attempt there would fail, too
    std::optional<std::string> node;  // to blame
    bool at_will = false;             // somebody wanted it: the campaign is not charged
    std::string experiment = {};      // a point of which was measured, if that is what failed
  };
  struct ActiveRun {
    ActiveRun(RunGroup given_out, uint32_t points_of_plan)
        : group(std::move(given_out)),
          points(points_of_plan),
          last_progress_event_s(group.started_s()),
          pace(group.started_s()) {}

    RunGroup group;
    uint32_t points = 0;             // the first so many of the plan
    std::optional<Failure> failure;  // reported or seen; the next step gives the run up
    std::map<std::string, std::string> instances;  // of the agent at each node
    MeasuredFacts facts;                           // of each node
    double budget_end_s = 0;                       // when the campaign's time budget ends
    double last_progress_event_s = 0;
    std::optional<double> ended_s;  // its part is over; storing that may take longer
    double outage_s = 0;            // of that, nothing could be stored
    campaign::RunPace pace;
    std::shared_ptr<const PlannedPoints> planned;  // once its first samples have come
    PointSet measured;                             // of the points planned: stored, or on their way
    uint32_t stored_points = 0;
    std::vector<campaign::PointResult> results;  // stored, by place in the run's plan
    uint64_t samples = 0;                        // stored
    std::string note;                            // why the first point without time has none
    uint64_t contiguous = 0;                     // the batches 1 to this many are stored
    std::set<uint64_t> beyond;                   // others that are
    std::set<uint64_t> on_their_way;             // that will be
    std::shared_ptr<const std::vector<std::string>> addresses;  // of the ranks, once it is ready
    bool progressed = false;  // since the last event that told of it
  };
  // One that has not ended, as it is in the store.
  struct OpenCampaign {
    CampaignRecord campaign;
    std::vector<RunRecord> runs;
    std::shared_ptr<const campaign::PointTable> points = nullptr;  // once a run has finished
    std::shared_ptr<const campaign::Next> next = nullptr;          // once somebody has asked
  };
  // A campaign in the middle of a step: read, changed, written back.
  struct Draft {
    CampaignRecord campaign;
    std::vector<RunRecord> runs;
    std::shared_ptr<const campaign::PointTable> points;
    Changes changes = {};
    RunRecord& run(uint32_t index);
  };
  // What a batch says, read without the lock: batches have megabytes.
  struct ReadBatch {
    RunKey run;
    std::optional<std::string> sampler;            // the node that may send it; nullopt: none
    std::shared_ptr<const PlannedPoints> planned;  // nullptr: of no active run
    std::vector<campaign::PointResult> results;    // of its points, by place in it
    uint64_t samples = 0;                          // how many values
    std::string note;                              // of the first series without time
    std::optional<Error> refusal;                  // why it is not accepted
    double received_s = 0;
  };
  using Sessions = std::map<uint64_t, Session>;
  using Order = std::shared_ptr<const std::string>;  // as all its nodes get it

  // coordinator.cc: steps
  void run_timer();
  std::optional<double> end_of_patience_s() const STRIPLINE_REQUIRES(mutex_);
  std::optional<double> next_deadline_s() const STRIPLINE_REQUIRES(mutex_);
  void be_patient_after_a_stall(double now_s) STRIPLINE_REQUIRES(mutex_);
  void step() STRIPLINE_REQUIRES(mutex_);
  void want_step() STRIPLINE_REQUIRES(mutex_);
  Status note_progress(double now_s) STRIPLINE_REQUIRES(mutex_);
  bool tells_progress(const ActiveRun& active, double now_s) const;
  void end_outage(double now_s) STRIPLINE_REQUIRES(mutex_);
  bool close_silent_sessions(double now_s) STRIPLINE_REQUIRES(mutex_);
  void close_silent_strangers(double now_s) STRIPLINE_REQUIRES(mutex_);
  double silent_s() const;
  Result<bool> carry_out(const Decision& decision) STRIPLINE_REQUIRES(mutex_);
  Status place(const PlaceRun& place) STRIPLINE_REQUIRES(mutex_);
  Status give_up(const LoseRun& lose) STRIPLINE_REQUIRES(mutex_);
  std::string leave_out(CampaignRecord& campaign, const LoseRun& lose) STRIPLINE_REQUIRES(mutex_);
  Status finish_measuring(const FinishMeasuring& finish) STRIPLINE_REQUIRES(mutex_);
  Status complete_run(const CompleteRun& complete) STRIPLINE_REQUIRES(mutex_);
  Status end_campaign(int64_t number, CampaignState state, const std::string& message,
                      const std::string& actor = "") STRIPLINE_REQUIRES(mutex_);
  Status note_waiting(const Wait& wait) STRIPLINE_REQUIRES(mutex_);
  double patience_left_s(const CampaignRecord& campaign, double now_s) const
      STRIPLINE_REQUIRES(mutex_);
  void end_quiet_wait(int64_t campaign) STRIPLINE_REQUIRES(mutex_);
  Result<Draft> draft(int64_t campaign) STRIPLINE_REQUIRES(mutex_);
  void add_records(Draft& draft, const std::string& event) STRIPLINE_REQUIRES(mutex_);
  void remember(const Draft& draft) STRIPLINE_REQUIRES(mutex_);
  Status commit(Draft& draft, const std::string& event) STRIPLINE_REQUIRES(mutex_);
  CampaignView view(const CampaignRecord& campaign, const std::vector<RunRecord>& runs) const
      STRIPLINE_REQUIRES(mutex_);
  void charge_active_run(CampaignRecord& campaign, bool time_counts = true) const
      STRIPLINE_REQUIRES(mutex_);
  void close_open_runs(Draft& draft) STRIPLINE_REQUIRES(mutex_);
  void forget(int64_t campaign) STRIPLINE_REQUIRES(mutex_);
  void release_group(int64_t campaign, const std::string& message) STRIPLINE_REQUIRES(mutex_);
  std::optional<double> active_seconds(int64_t campaign) const STRIPLINE_REQUIRES(mutex_);
  void fail(ActiveRun& active, Failure failure) STRIPLINE_REQUIRES(mutex_);
  Status save_nodes() STRIPLINE_REQUIRES(mutex_);
  Status save_ends() STRIPLINE_REQUIRES(mutex_);
  void end_active(std::map<int64_t, ActiveRun>::iterator active) STRIPLINE_REQUIRES(mutex_);
  void report(const Status& status) STRIPLINE_REQUIRES(mutex_);

  // coordinator_recovery.cc
  Status recover();
  Status requeue(Draft& draft, RunRecord& run);
  Status take_up(const Draft& draft, const RunRecord& run, const RunAttempt& attempt)
      STRIPLINE_REQUIRES(mutex_);
  Status count_stored(ActiveRun& active);

  // coordinator_sessions.cc: agents
  Sessions::iterator session_of_node(const std::string& node) STRIPLINE_REQUIRES(mutex_);
  Session* heard(uint64_t session) STRIPLINE_REQUIRES(mutex_);
  std::optional<Problem> check_room(const std::string& node) STRIPLINE_REQUIRES(mutex_);
  void note_identity(const NodeRecord& now) STRIPLINE_REQUIRES(mutex_);
  std::optional<Problem> check_hello(const Hello& hello, Session& session);
  void drop_session(Sessions::iterator session, const std::optional<Problem>& why)
      STRIPLINE_REQUIRES(mutex_);
  double reconnect_spread_s() const STRIPLINE_REQUIRES(mutex_);
  void resume_assignment(const Hello& hello, Session& session) STRIPLINE_REQUIRES(mutex_);
  Result<Order> order_of(const RunKey& run, uint64_t fence, uint32_t points);
  void send_order(Session& session, const RunGroup& group, const Order& order)
      STRIPLINE_REQUIRES(mutex_);
  void send_ready(Session& session, ActiveRun& active) STRIPLINE_REQUIRES(mutex_);
  void send_cancel(Session& session, const RunKey& run, uint64_t fence, const std::string& why)
      STRIPLINE_REQUIRES(mutex_);
  ActiveRun* active_run(const RunKey& run, uint64_t fence, const std::string& node)
      STRIPLINE_REQUIRES(mutex_);
  std::string job_id(const RunGroup& group) const;
  void note_ready(ActiveRun& active) STRIPLINE_REQUIRES(mutex_);
  bool take_facts(ActiveRun& active, const std::string& node,
                  const std::map<std::string, std::string>& facts) STRIPLINE_REQUIRES(mutex_);
  bool handle(Session& session, const Heartbeat& heartbeat) STRIPLINE_REQUIRES(mutex_);
  bool handle(Session& session, const GroupJoin& join) STRIPLINE_REQUIRES(mutex_);
  Status note_slow(const RunKey& run, const std::string& message) STRIPLINE_REQUIRES(mutex_);
  bool handle(Session& session, const AssignmentUpdate& update) STRIPLINE_REQUIRES(mutex_);

  // coordinator_snapshot.cc
  Snapshot take_snapshot(double now_s) STRIPLINE_REQUIRES(mutex_);
  CampaignSnapshot snapshot_of(const CampaignRecord& record, const std::vector<RunRecord>& runs,
                               double now_s) const STRIPLINE_REQUIRES(mutex_);
  std::optional<double> advised_budget_s(const Draft& draft) const STRIPLINE_REQUIRES(mutex_);
  std::string budget_warning(const Draft& draft) const STRIPLINE_REQUIRES(mutex_);

  // coordinator_points.cc: what is known of points
  Result<std::shared_ptr<const campaign::PointTable>> read_points(
      const CampaignRecord& record, const std::vector<RunRecord>& runs);
  Status add_results(Draft& draft, const ActiveRun& active) STRIPLINE_REQUIRES(mutex_);
  Result<std::string> plan_of(Draft& draft, const PlaceRun& place) STRIPLINE_REQUIRES(mutex_);

  // coordinator_fleet.cc
  Status recover_holds();
  std::string hold_on(const std::string& node) const STRIPLINE_REQUIRES(mutex_);
  std::optional<double> next_drain_s() const STRIPLINE_REQUIRES(mutex_);
  void end_drained_runs() STRIPLINE_REQUIRES(mutex_);

  // coordinator_models.cc
  Status recover_models();
  void take_models(KnownModels known) STRIPLINE_REQUIRES(mutex_);
  void send_offers() STRIPLINE_REQUIRES(mutex_);
  bool has_rejected(const Session& session, const LabelledVersion& version) const
      STRIPLINE_REQUIRES(mutex_);
  std::string unfit_here(const std::string& node, const std::string& sha256) const
      STRIPLINE_REQUIRES(mutex_);
  void send_withdrawals(Session& session, const std::vector<const LabelledVersion*>& wanted)
      STRIPLINE_REQUIRES(mutex_);
  void receive_feedback(uint64_t session, const FeedbackReport& report);
  bool handle(Session& session, const ModelAck& ack) STRIPLINE_REQUIRES(mutex_);
  std::vector<NodeModelView> models_of(const NodeRecord& node) const STRIPLINE_REQUIRES(mutex_);

  // coordinator_samples.cc
  void receive_samples(uint64_t session, const SampleBatch& batch);
  Result<ReadBatch> read_batch(const SampleBatch& batch, const RunKey& run,
                               const std::string& node);
  static void add_series(ReadBatch& read, const experiment::SampleSeries& series);
  static Status read_content(const SampleBatch& batch, ReadBatch& read);
  bool not_stored(Session& session, const RunKey& run, const Error& error)
      STRIPLINE_REQUIRES(mutex_);
  bool handle(Session& session, const SampleBatch& batch, const ReadBatch& read)
      STRIPLINE_REQUIRES(mutex_);
  bool take_batch(Session& session, ActiveRun& active, const SampleBatch& batch,
                  const ReadBatch& read) STRIPLINE_REQUIRES(mutex_);
  bool take_late_batch(Session& session, const SampleBatch& batch, const ReadBatch& read)
      STRIPLINE_REQUIRES(mutex_);
  void on_stored(const std::vector<Arrival>& group);
  void note_stored(ActiveRun& active, const Arrival& arrival) STRIPLINE_REQUIRES(mutex_);
  void acknowledge(const ActiveRun& active) STRIPLINE_REQUIRES(mutex_);
  bool refuse_samples(Session& session, const SampleBatch& batch, const RunKey& run,
                      const Failure& why) STRIPLINE_REQUIRES(mutex_);
  Status count_late_samples(const RunKey& run, uint64_t samples) STRIPLINE_REQUIRES(mutex_);

  // coordinator_planning.cc
  Answer<CampaignView> existing_campaign(const std::string& owner, const std::string& request_id,
                                         const std::string& digest) STRIPLINE_REQUIRES(mutex_);
  Answer<CampaignView> plan_and_store(const CampaignSpec& asked, const std::string& request_id,
                                      bool validate_only, const std::string& actor);
  std::optional<Problem> begin_planning();
  std::optional<Problem> no_room(const std::string& owner) const STRIPLINE_REQUIRES(mutex_);
  Answer<CampaignEstimate> plan_and_estimate(const CampaignSpec& asked);
  Result<std::optional<EarlierCampaign>> campaign_like(const CampaignSpec& spec);
  Answer<bool> begin_race(CampaignPlan& plan, const std::vector<NodeOffer>& offers);
  Result<std::optional<CampaignRecord>> nearest_campaign(const CampaignPlan& plan,
                                                         const std::vector<NodeOffer>& offers);
  Answer<std::vector<NodeOffer>> offers_for(const CampaignSpec& spec);
  Answer<CampaignView> store_campaign(Draft& draft);

  // coordinator_offline.cc
  Answer<campaign::PlanBundle> plan_for_others(const CampaignSpec& asked,
                                               const std::string& node_description);
  Answer<CampaignView> store_results(const campaign::OfflineResults& results,
                                     const std::string& sha256, const std::string& actor);

  // coordinator_lifecycle.cc
  Status put_in_state(int64_t number, CampaignState state, const std::string& message,
                      const AuditRecord& audit) STRIPLINE_REQUIRES(mutex_);
  std::optional<Problem> reopen(Draft& draft, const RetryOrder& order,
                                const std::string& actor) const STRIPLINE_REQUIRES(mutex_);

  Status remove(const CampaignRecord& campaign, AuditRecord audit) STRIPLINE_REQUIRES(mutex_);

  // coordinator_campaigns.cc: reading and fitting
  Answer<CampaignRecord> stored_campaign(int64_t number);
  std::vector<NodeView> views_of(std::vector<NodeRecord> records) STRIPLINE_REQUIRES(mutex_);
  void run_fitter();
  void fit(int64_t campaign);
  std::optional<uint32_t> wanted_fit(int64_t campaign) const STRIPLINE_REQUIRES(mutex_);
  bool wait_for_storage(const std::string& name, std::string_view task, const Error& error);
  Result<FitJob> collect(int64_t campaign);
  Result<FittedModel> try_to_fit(const FitJob& job, const std::stop_token& stop);
  Status fit_failed(int64_t campaign, const Error& why) STRIPLINE_REQUIRES(mutex_);
  Status publish(int64_t campaign, const Result<FittedModel>& fitted) STRIPLINE_REQUIRES(mutex_);
  Status add_samples_of(const FittedCampaign& part, const std::vector<RunKey>& wanted,
                        uint32_t first_run, FitJob& job);
  static void add_version(const VersionKey& key, const std::string& fabric,
                          const FittedModel& fitted, const std::vector<std::string>& campaigns,
                          Changes& changes);

  // coordinator_operations.cc
  Status recover_operations();
  Answer<std::vector<FittedCampaign>> parts_of(const FitOrder& order);
  void carry_out_operation(int64_t number);
  Status attempt_operation(int64_t number, const std::stop_token& stop);
  Status note_operation(OperationRecord& operation, const std::string& message)
      STRIPLINE_REQUIRES(mutex_);
  Status end_operation(OperationRecord& operation, const std::string& why)
      STRIPLINE_REQUIRES(mutex_);
  Status publish(OperationRecord& operation, const FitOrder& order, const FittedModel& fitted)
      STRIPLINE_REQUIRES(mutex_);
  Answer<FitJob> collect(const FitOrder& order);

  Store& store_;
  WatchHub& hub_;
  Meters& meters_;
  const Fitter fitter_;
  const CoordinatorOptions options_;

  std::atomic<int> creators_ = 0;  // who create campaigns, or wait for that
  Mutex creating_;                 // taken before mutex_: one campaign is planned at a time
  Mutex mutex_;
  std::condition_variable_any timer_wakes_;
  std::condition_variable_any fitter_wakes_;
  bool stopping_ STRIPLINE_GUARDED_BY(mutex_) = false;
  bool draining_ STRIPLINE_GUARDED_BY(mutex_) = false;
  bool timer_changed_ STRIPLINE_GUARDED_BY(mutex_) = false;  // the next deadline is another one
  bool step_wanted_ STRIPLINE_GUARDED_BY(mutex_) = false;
  const std::string job_secret_ = unguessable_text();                  // of this start
  std::optional<double> retry_s_ STRIPLINE_GUARDED_BY(mutex_);         // after a storage failure
  std::optional<double> outage_since_s_ STRIPLINE_GUARDED_BY(mutex_);  // nothing can be stored
  std::optional<StorageOutage> outage_ STRIPLINE_GUARDED_BY(mutex_);   // the same, for people
  std::map<std::string, NodeRecord> unsaved_nodes_ STRIPLINE_GUARDED_BY(mutex_);
  std::vector<AttemptFacts> unsaved_ends_
      STRIPLINE_GUARDED_BY(mutex_);  // of nodes' parts of runs that others still measure
  std::map<std::string, NodeHold> holds_ STRIPLINE_GUARDED_BY(mutex_);  // by node
  KnownModels known_ STRIPLINE_GUARDED_BY(mutex_);
  uint64_t labels_moved_ STRIPLINE_GUARDED_BY(mutex_) = 0;  // how often they were read
  std::map<std::pair<std::string, std::string>, NodeModelRecord> model_answers_
      STRIPLINE_GUARDED_BY(mutex_);  // by node and name of the version
  Declarations declarations_;
  NodeHealth health_ STRIPLINE_GUARDED_BY(mutex_);
  std::map<int64_t, double> waiting_since_s_
      STRIPLINE_GUARDED_BY(mutex_);  // campaigns that lack nodes
  // Campaigns that wait for quiet hosts.
  struct QuietWait {
    std::optional<double> since_s;  // it does now
    double before_s = 0;            // it did earlier
  };
  std::map<int64_t, QuietWait> quiet_waits_ STRIPLINE_GUARDED_BY(mutex_);
  // Attempts that have failed while they measured an experiment, by campaign.
  std::map<int64_t, std::map<std::string, uint32_t>> failures_at_ STRIPLINE_GUARDED_BY(mutex_);
  std::map<int64_t, double> paused_until_s_
      STRIPLINE_GUARDED_BY(mutex_);  // campaigns a run of which has just failed
  uint64_t next_session_ STRIPLINE_GUARDED_BY(mutex_) = 1;
  uint64_t nodes_at_start_ STRIPLINE_GUARDED_BY(mutex_) = 0;
  Sessions sessions_ STRIPLINE_GUARDED_BY(mutex_);
  std::map<std::string, uint64_t> session_ids_ STRIPLINE_GUARDED_BY(mutex_);  // by node
  std::map<int64_t, OpenCampaign> open_ STRIPLINE_GUARDED_BY(mutex_);
  std::deque<Stranger> strangers_ STRIPLINE_GUARDED_BY(mutex_);  // by deadline
  std::map<int64_t, ActiveRun> active_
      STRIPLINE_GUARDED_BY(mutex_);  // by campaign: at most one run each
  std::deque<int64_t> to_fit_ STRIPLINE_GUARDED_BY(mutex_);
  std::deque<int64_t> operations_ STRIPLINE_GUARDED_BY(mutex_);    // that wait
  std::optional<int64_t> operation_ STRIPLINE_GUARDED_BY(mutex_);  // that is carried out
  std::stop_source stop_operation_ STRIPLINE_GUARDED_BY(mutex_);
  std::stop_source stop_fits_;
  std::thread timer_;
  std::thread fitting_;
  Ingest ingest_;
};

}  // namespace stripline::server
