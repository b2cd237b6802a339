// What the server remembers, as plain values; model_records.h has those of models. Everything that
// must survive a crash is in one of these; sessions, leases and joined addresses are not, because
// agents re-establish them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/campaign/point_table.h"
#include "optimizer/experiment/experiment.h"
#include "server/store/campaign_spec.h"
#include "server/store/names.h"

namespace stripline::server {

/// A node that has ever said Hello.
struct NodeRecord {
  std::string name;  ///< without "nodes/"
  std::string agent_version;
  std::map<std::string, std::string> fingerprint;
  std::vector<std::string> fabrics;
  std::vector<std::string> experiments;  ///< By name; what they are is said in each session.
  double last_seen_unix_s = 0;
  std::string cluster = kDefaultCluster;
  bool operator==(const NodeRecord&) const = default;
};

/// An operator keeps this node from new runs.
struct NodeHold {
  std::string node;
  std::string reason;
  std::string actor;
  double since_unix_s = 0;
  double deadline_unix_s = 0;  ///< What it works on ends then at the latest; 0: at its own end.
  bool operator==(const NodeHold&) const = default;
};

/// Paused and draining ones make no new run; the latter are cancelled when none is in progress.
enum class CampaignState {
  queued,
  running,
  paused,
  draining,
  fitting,
  succeeded,
  failed,
  cancelled
};
std::string_view to_string(CampaignState state);
std::optional<CampaignState> campaign_state_from_string(std::string_view name);
/// Succeeded, failed or cancelled: nothing will change any more.
bool is_final(CampaignState state);

struct CampaignRecord {
  int64_t number = 0;
  CampaignSpec spec;
  CampaignState state = CampaignState::queued;
  std::string message;
  double created_unix_s = 0;
  double updated_unix_s = 0;
  std::string owner;       ///< The one who created it, "users/alice"; empty: that was not recorded.
  std::string request_id;  ///< Empty: none. Unique among those of its owner otherwise.
  std::string request_sha256;  ///< The hash of the spec as the client sent it.
  /// Experiment name to version that a node must offer to take part.
  std::map<std::string, int64_t> requirements;
  bool feeds_model = true;    ///< Some experiment feeds a model parameter.
  double planned_run_s = 0;   ///< The planner's estimate of one run.
  double measured_s = 0;      ///< Time during which a run of it has been active.
  uint64_t samples = 0;       ///< Values stored, orphans included, those of the active run not yet.
  std::string model_version;  ///< Full name, once fitted.
  uint32_t fit_failures = 0;  ///< How often its fit came to no answer.
  /// Why measuring ended, a name of campaign::StopReason; empty: it has not, or its server did not
  /// say.
  std::string stop_reason;
  /// Relative half-width of the intervals of nearly all points (campaign::achieved_width); 0: none
  /// is known yet.
  double width = 0;
  uint32_t retries = 0;                  ///< How often it went on after its end.
  std::vector<std::string> labels = {};  ///< In order.
};

/// A run is pending until it is given out to a group of nodes, which makes it active; a lost one is
/// pending again.
enum class RunState { pending, active, finished, failed, cancelled };
std::string_view to_string(RunState state);
std::optional<RunState> run_state_from_string(std::string_view name);

struct RunRecord {
  RunKey key;
  RunState state = RunState::pending;
  uint64_t fence = 0;                   ///< From the last time it was given out; 0: never.
  uint32_t failures = 0;                ///< How often it was lost or failed.
  std::vector<std::string> rank_nodes;  ///< From the last time it was given out.
  uint32_t points_done = 0;             ///< Once finished; the coordinator knows of active runs.
  uint32_t points_total = 0;            ///< From the last time it was given out, or as planned.
  uint32_t points_least = 0;            ///< The plan's first points: the fewest that make a model.
  uint32_t points_core = 0;  ///< Its first points, those included: enough for a coarse model.
  uint32_t points_all = 0;   ///< All points of the plan.
  /// The grid whose points it was given, as that grid's number of points.
  uint32_t grid = 0;
  double duration_s = 0;  ///< Length of the last attempt, up to its end or its last samples.
  double start_s = 0;     ///< The part before the first point.
  std::string message;
  bool operator==(const RunRecord&) const = default;
};

/// A point of a campaign, and what the finished runs have said of it.
struct PointRecord {
  uint32_t place = 0;  ///< In order of the plan, from 0 on; points that were added later follow.
  experiment::Point point;
  uint32_t runs = 0;     ///< Finished ones that tried it.
  uint32_t failed = 0;   ///< Runs of these that gave no sample.
  uint64_t samples = 0;  ///< In all of them.
  std::optional<campaign::Estimate> estimate;
  bool operator==(const PointRecord&) const = default;
};

/// The points that are asked for; what is empty does not matter.
struct PointFilter {
  std::string experiment;
  std::string variant;
  std::map<std::string, std::string> params;  ///< Values as text.
};

/// One SampleBatch as it came in. An orphan belongs to an attempt that was given up: it is kept as
/// evidence and exported, and never fitted.
struct BatchRecord {
  int64_t id = 0;  ///< Assigned by the store; ascending in order of arrival.
  RunKey run;
  uint64_t fence = 0;
  uint64_t seq = 0;
  bool orphan = false;
  double received_unix_s = 0;
  uint64_t samples = 0;  ///< Values in it.
  std::string data;      ///< A JSON array of SampleSeries.
};

/// Something that happened to a campaign.
struct EventRecord {
  uint64_t cursor = 0;  ///< Assigned by the store; ascending over all campaigns.
  int64_t campaign = 0;
  double time_unix_s = 0;
  std::string message;
  std::string view_json;  ///< The campaign after it: campaign_view.h.
};

}  // namespace stripline::server
