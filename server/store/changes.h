// A step of the server as a value: what a Store applies completely or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/experiment/experiment.h"
#include "server/store/attempt_records.h"
#include "server/store/model_records.h"
#include "server/store/operation_records.h"
#include "server/store/records.h"
#include "server/store/security_records.h"

namespace stripline::server {

/// What a campaign measures, in the order of its plan, from this place on.
struct CampaignPoints {
  int64_t campaign = 0;
  std::vector<experiment::Point> points;
  uint32_t first = 0;
};

/// What is known of a stored point now: all of the record but the point itself.
struct PointUpdate {
  int64_t campaign = 0;
  PointRecord now;
  std::vector<double> medians = {};  ///< One of each run that gave samples, in order.
};

/// The plan of a run: experiment::Assignment in its JSON form, with fence 0.
struct RunPlan {
  RunKey run;
  std::string assignment_json;
};

/// A run has been given out under this fence.
struct RunAttempt {
  RunKey run;
  uint64_t fence = 0;
  std::string sampling_node;  ///< Where rank 0 is, which alone sends samples.
  /// By node, its agent's; none for attempts of before there were.
  std::map<std::string, std::string> instances = {};
  std::vector<std::string> addresses = {};  ///< Addresses of the ranks, once all have joined.
  std::optional<double> started_unix_s = std::nullopt;  ///< nullopt: it was imported.
};

/// An attempt is over.
struct AttemptEnd {
  RunKey run;
  uint64_t fence = 0;
  double time_unix_s = 0;
  AttemptOutcome outcome = AttemptOutcome::finished;
  std::string reason;  ///< Why it did not finish.
};

/// What a node was when it took part in an attempt: stored once its part has ended well. Never
/// changed.
struct AttemptFacts {
  RunKey run;
  uint64_t fence = 0;
  std::string node;
  std::map<std::string, std::string> facts;
};

/// A published version is not to be used any more, or does not hold any more. Its content stays.
struct Withdrawal {
  VersionKey key;
  std::string reason;
  double time_unix_s = 0;
};

/// A version to publish. Its model comes into being with its first version.
struct NewModelVersion {
  ModelVersionRecord record;
  std::string fabric;
  std::string content;
};

/// One step. Records and plans replace those with the same key, of attempts their addresses alone;
/// points, batches, events and versions are added.
struct Changes {
  std::vector<NodeRecord> nodes;
  std::vector<NodeHold> holds;
  std::vector<std::string> released_nodes;  ///< Nodes whose holds end.
  std::vector<std::string> removed_nodes;   ///< Forgotten, with their holds.
  std::vector<CampaignRecord> campaigns;
  std::vector<RunRecord> runs;
  std::vector<RunPlan> plans;
  std::vector<CampaignPoints> points;
  std::vector<PointUpdate> point_updates;
  std::vector<RunAttempt> attempts;
  std::vector<AttemptEnd> attempt_ends;
  std::vector<AttemptFacts> facts;
  std::vector<RunKey> orphaned;  ///< All batches stored so far for these runs become orphans.
  std::vector<BatchRecord> batches;
  /// Batches of attempts that are not active any more when the step is applied become orphans.
  std::vector<const BatchRecord*> live_batches;
  std::vector<EventRecord> events;
  std::vector<NewModelVersion> versions;
  std::vector<Withdrawal> withdrawals;
  std::vector<Withdrawal> staled;             ///< Versions that do not hold any more.
  std::vector<Withdrawal> staled_in_use;      ///< Versions among them that were stable.
  std::vector<Withdrawal> lost;               ///< Versions that made runs slower.
  std::vector<ValidationRecord> validations;  ///< Each replaces that of before, with its verdict.
  std::vector<Withdrawal> failed;             ///< Versions that have failed their validation.
  std::vector<Withdrawal> unjudged;           ///< Versions whose validation says nothing.
  std::vector<CheckRecord> checks;            ///< Each replaces that by the same campaign.
  std::vector<LabelRecord> labels;            ///< Moves.
  std::vector<LabelRecord> unlabelled;        ///< Moves that are taken back.
  std::vector<NodeModelRecord> node_models;   ///< Each replaces that of before.
  /// A report that is stored already is not stored again; of each version the last
  /// kMaxFeedbackReports are kept.
  std::vector<FeedbackRecord> feedback;
  /// Each replaces that of before; of those that have ended the last kMaxOperations are kept.
  std::vector<OperationRecord> operations;
  std::vector<TokenRecord> tokens;
  std::vector<NodeBound> node_bounds;
  std::vector<AuditRecord> audit;
  /// Ones that have ended: not there any more, with all that belongs to them. Store::sweep() frees
  /// their room.
  std::vector<int64_t> deleted_campaigns;
};

/// Reports of runs that are kept of a version.
inline constexpr size_t kMaxFeedbackReports = 500;

}  // namespace stripline::server
