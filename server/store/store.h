// Where the server keeps what must not be lost. A step of the server is a value, Changes, that the
// store applies completely or not at all; whatever the server acknowledges to anyone it has applied
// before. Between two steps the process may die at any moment.
//
// Thread-safe: any method from any thread. Reads see all steps applied before.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/campaign/median_table.h"
#include "server/store/changes.h"
#include "server/store/point_columns.h"
#include "server/store/storage_health.h"

namespace stripline::server {

/// Bytes of the database.
struct StoreSize {
  uint64_t bytes = 0;
  uint64_t free_bytes = 0;  ///< of them, for what is stored next
  uint64_t used_bytes() const { return bytes - free_bytes; }
};

class Store {
 public:
  virtual ~Store() = default;

  /// Applies the step and returns when it is on disk. Errors: already_exists when a batch's (run,
  /// fence, seq), a request_id or a model version is stored already; resource_exhausted when the
  /// disk is full; data_loss for a damaged file. After an error nothing of the step is stored.
  virtual Status apply(const Changes& changes) = 0;

  /// Called after each step with how long storing it took, and whether it could be. Set it before
  /// the first.
  using Observer = std::function<void(double seconds, bool stored)>;
  void observe(Observer observer) { observer_ = std::move(observer); }

  /// Called once, on any thread, should another server have taken this store over: nothing is
  /// stored any more, and what is in memory is not what is stored. Only a new Store of it notifies
  /// again. Implementations that can notify keep the callback, hence its copy.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  virtual void on_lost(std::function<void(const Error&)> /*notify*/) {}

  /// Success if steps can be stored now: the last one was, or else a trial of the size of the one
  /// that was not (storage_health.h).
  virtual Status probe() = 0;

  /// Why nothing can be stored since when, as the last step or probe() has found.
  std::optional<StorageOutage> outage() const { return health_.outage(); }

  /// Random, chosen when the database was created: tells one server's jobs from another's.
  virtual std::string installation_id() const = 0;

  /// Fences are above this. It grows when a backup is put in place, so that what agents still send
  /// of attempts after the backup is not taken for what is given out now.
  virtual uint64_t fence_base() const = 0;

  /// Nodes in order of name, from the first after `after` on.
  virtual Result<std::vector<NodeRecord>> nodes(const std::string& after, size_t limit) = 0;
  /// Their names alone.
  virtual Result<std::vector<std::string>> node_names(const std::string& after, size_t limit) = 0;
  virtual Result<std::optional<NodeRecord>> node(const std::string& name) = 0;
  virtual Result<uint64_t> count_nodes() = 0;
  virtual Result<std::vector<NodeHold>> node_holds() = 0;

  /// One more than the largest campaign number ever used.
  virtual Result<int64_t> next_campaign_number() = 0;
  virtual Result<std::optional<CampaignRecord>> campaign(int64_t number) = 0;
  virtual Result<std::optional<CampaignRecord>> campaign_of_request(
      const std::string& owner, const std::string& request_id) = 0;
  /// Newest first, those with a number below `before` (0: all).
  virtual Result<std::vector<CampaignRecord>> campaigns(int64_t before, size_t limit) = 0;
  /// Versions of models that were fitted to the campaign, in order, withdrawn ones included.
  virtual Result<std::vector<VersionKey>> versions_of(int64_t campaign) = 0;
  /// Those in no final state, oldest first.
  virtual Result<std::vector<CampaignRecord>> unfinished_campaigns() = 0;

  /// Campaigns that have ended, before this time, and from which no version of a model was fitted,
  /// a withdrawn one included: the one that ended first comes first.
  virtual Result<std::vector<CampaignRecord>> expendable_campaigns(double ended_before_unix_s,
                                                                   size_t limit) = 0;
  /// Removes some of what deleted campaigns have left behind, as much as takes milliseconds. False
  /// when nothing was left.
  virtual Result<bool> sweep() = 0;
  virtual Result<StoreSize> size() = 0;

  /// In order of run number.
  virtual Result<std::vector<RunRecord>> runs(int64_t campaign) = 0;
  /// The stored plan. Errors: not_found.
  virtual Result<std::string> run_plan(const RunKey& run) = 0;

  /// From this place on, in order of place; none of campaigns whose plan cannot be read.
  virtual Result<std::vector<PointRecord>> points(int64_t campaign, const PointFilter& filter,
                                                  uint32_t from, size_t limit) = 0;

  /// How many points of each experiment there are and are measured, in order of name; none of
  /// campaigns whose plan cannot be read.
  virtual Result<std::vector<ExperimentSummary>> point_summary(int64_t campaign) = 0;
  /// The points of one experiment.
  virtual Result<PointColumns> point_columns(int64_t campaign, const std::string& experiment) = 0;
  /// All points, in order of place, with the medians of their runs. Nullopt: runs have measured
  /// some before medians were stored, so that only their samples tell.
  virtual Result<std::optional<campaign::MedianTable>> point_medians(int64_t campaign) = 0;

  /// Where rank 0 of this attempt is or was; nullopt when the run was never given out so.
  virtual Result<std::optional<std::string>> sampling_node(const RunKey& run, uint64_t fence) = 0;
  virtual Result<std::optional<RunAttempt>> attempt(const RunKey& run, uint64_t fence) = 0;
  /// Attempts that were in progress between these times, the last to start first; none of imported
  /// campaigns.
  virtual Result<std::vector<AttemptRecord>> attempts_between(double from_unix_s, double to_unix_s,
                                                              size_t limit) = 0;
  /// By node that took part in it, in order of name; none for attempts of before there were.
  virtual Result<std::vector<AttemptFacts>> attempt_facts(const RunKey& run, uint64_t fence) = 0;
  /// Whether the stored batch of this name holds just this data; nullopt when none is stored.
  virtual Result<std::optional<bool>> has_batch(const RunKey& run, uint64_t fence, uint64_t seq,
                                                const std::string& data) = 0;
  /// The largest n such that the batches 1..n of this fence are stored; 0 if the first is missing.
  virtual Result<uint64_t> contiguous_batches(const RunKey& run, uint64_t fence) = 0;
  /// In order of their numbers.
  virtual Result<std::vector<BatchRecord>> attempt_batches(const RunKey& run, uint64_t fence) = 0;
  /// In order of arrival, those with an id above `after`.
  virtual Result<std::vector<BatchRecord>> batches(int64_t campaign, int64_t after,
                                                   size_t limit) = 0;

  /// In order, those after `cursor`.
  virtual Result<std::vector<EventRecord>> events(int64_t campaign, uint64_t cursor,
                                                  size_t limit) = 0;

  /// In order of name, from the first after `after` on.
  virtual Result<std::vector<ModelRecord>> models(const std::string& after, size_t limit) = 0;
  virtual Result<std::optional<ModelRecord>> model(const std::string& name) = 0;
  /// Newest first, those below `before` (0: all).
  virtual Result<std::vector<ModelVersionRecord>> model_versions(const std::string& model,
                                                                 int64_t before, size_t limit) = 0;
  /// `key.version` 0 is the newest that is not withdrawn; a provisional or stale one only if all
  /// are.
  virtual Result<std::optional<ModelVersionRecord>> model_version(const VersionKey& key) = 0;
  /// The file. Errors: not_found.
  virtual Result<std::string> model_content(const VersionKey& key) = 0;
  /// The moves of all labels of a model, in order of label and place.
  virtual Result<std::vector<LabelRecord>> labels(const std::string& model) = 0;
  /// Records of all versions of a model, in order of time.
  virtual Result<std::vector<CheckRecord>> checks(const std::string& model) = 0;
  /// Records of all nodes, in order of node, model and version.
  virtual Result<std::vector<NodeModelRecord>> node_models() = 0;
  /// The newest version with this hash of its content.
  virtual Result<std::optional<VersionKey>> version_of_content(const std::string& sha256) = 0;
  /// Newest first, those with an id below `before` (0: all). `key.version` 0: of all versions.
  virtual Result<std::vector<FeedbackRecord>> feedback(const VersionKey& key, uint64_t before,
                                                       size_t limit) = 0;

  /// One more than the largest number ever used.
  virtual Result<int64_t> next_operation_number() = 0;
  virtual Result<std::optional<OperationRecord>> operation(int64_t number) = 0;
  virtual Result<std::optional<OperationRecord>> operation_of_request(
      const std::string& actor, const std::string& request_id) = 0;
  /// Newest first, those with a number below `before` (0: all).
  virtual Result<std::vector<OperationRecord>> operations(int64_t before, size_t limit) = 0;
  /// Oldest first.
  virtual Result<std::vector<OperationRecord>> unfinished_operations() = 0;

  virtual Result<std::vector<TokenRecord>> tokens() = 0;
  virtual Result<std::vector<NodeBound>> node_bounds() = 0;
  /// Newest first, those with an id below `before` (0: all).
  virtual Result<std::vector<AuditRecord>> audit(int64_t before, size_t limit) = 0;
  /// What was done to nodes between these times, the newest first.
  virtual Result<std::vector<AuditRecord>> audit_of_nodes(double from_unix_s, double to_unix_s,
                                                          size_t limit) = 0;

 protected:
  Observer observer_ = [](double /*seconds*/, bool /*stored*/) {};
  StorageHealth health_;
};

}  // namespace stripline::server
