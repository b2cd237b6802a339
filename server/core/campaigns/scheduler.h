// What to do next with campaigns, runs and nodes, as a pure function of a snapshot. The coordinator
// takes the snapshot, carries the decisions out and asks again until there are none.
//
// Rules: a group is placed when all its nodes are free, or not at all; a node runs one assignment
// at a time; a campaign runs one run at a time; the oldest campaign that connected nodes could
// serve goes first and newer ones do not take the nodes it waits for, so that none starves. Each
// run of a campaign takes other nodes where there are more than it needs, so that intervals hold
// what lies between nodes, and pairs are as often near ones as far ones (pair_sampling.h); those on
// which runs have failed come last, and those that cannot do what the campaign asks, have no
// room for their ranks, or are in quarantine or cordoned, are left out. On the real clock a run
// waits, for a while, until hosts have a processor for each of its ranks. What a run measures, and
// whether there is another one, is for optimizer/campaign to say.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/host_load.h"
#include "optimizer/campaign/next_run.h"
#include "optimizer/campaign/pace.h"
#include "optimizer/campaign/point_table.h"
#include "server/store/records.h"

namespace stripline::server {

/// A node with an open session.
struct NodeSnapshot {
  std::string name;
  bool free = true;  ///< Holds no assignment, nor is it still ending one, or installs settings.
  std::shared_ptr<const std::set<std::string>> fabrics;
  /// Name and version.
  std::shared_ptr<const std::set<std::pair<std::string, int64_t>>> experiments;
  double failures = 0;   ///< Rate of runs there, lately.
  std::string left_out;  ///< Why no run is given to it now; empty: there is no reason.
  /// It will be there for this long; none: no end is known.
  std::optional<double> available_s = std::nullopt;
  std::string cluster = kDefaultCluster;
  std::string switches = {};  ///< Above it (campaign::NodePlace); empty: no one knows.
  std::string host = {};      ///< The same for nodes of one host; empty: no one knows.
  std::optional<HostLoad> load = std::nullopt;  ///< Load of the host, by its agent's last report.
  uint32_t max_ranks = 0;                       ///< That it has room for; 0: not known.
};

struct RunSnapshot {
  uint32_t run = 0;
  RunState state = RunState::pending;
  uint32_t failures = 0;
  double duration_s = 0;      ///< When finished.
  double start_s = 0;         ///< When finished: of it, before the first point; 0: unknown.
  uint32_t points = 0;        ///< That it measured, or is measuring.
  uint32_t grid = 0;          ///< Their grid; 0: the one of this many points.
  uint32_t points_least = 0;  ///< In the plan's coarsest grid.
  uint32_t points_core = 0;   ///< In its coarse grid, which holds the coarsest.
  uint32_t points_all = 0;    ///< In the whole plan.
  std::vector<std::string> rank_nodes;  ///< From the last time it was given out.
  double active_s = 0;                  ///< When active: for how long.
  std::optional<campaign::Pace> pace;   ///< When active, once it is known.
  bool complete = false;                ///< Active, and every node's part has ended well.
  std::optional<std::string> lost;      ///< Active, and why it must be given up.
  bool lost_for_good = false;           ///< Another attempt there would fail, too.
  std::optional<std::string> lost_at;   ///< The node to blame, if one is.
  bool lost_at_will = false;            ///< Somebody wanted the attempt to end: it does not count.
  std::string message;                  ///< When failed.
};

struct CampaignSnapshot {
  int64_t number = 0;
  /// What was asked for: its group, seed, budgets and runs (0: as many as there are) count here.
  CampaignSpec spec;
  CampaignState state = CampaignState::queued;
  std::string fabric;
  std::string cluster = kDefaultCluster;
  std::set<std::string> only_nodes;  ///< Without "nodes/"; empty: any.
  std::set<std::string> suspects;    ///< Nodes on which a run of it has failed.
  std::set<std::string> unfit;       ///< Those where it would fail again.
  /// What happens if its hosts are busy; with so much patience left. Without any it measures, or is
  /// refused.
  WhenBusy when_busy = WhenBusy::wait;
  double quiet_patience_s = 0;
  bool overdue = false;  ///< It has waited for nodes too long.
  bool paused = false;   ///< A run of it has just failed: the next attempt is later.
  std::map<std::string, int64_t> requirements;
  bool feeds_model = true;
  double planned_run_s = 0;  ///< What the planner expects of a run.
  /// The first run measures the coarsest grid only, to learn how long a point takes here.
  bool pilot = false;
  double measured_s = 0;  ///< Time during which a run was active, up to now.
  /// What its runs have said of its points; none: no run has finished.
  std::shared_ptr<const campaign::PointTable> points;
  /// next_of() this snapshot, if that is known already.
  std::shared_ptr<const campaign::Next> next;
  std::vector<RunSnapshot> runs;
};

struct Snapshot {
  std::vector<NodeSnapshot> nodes;          ///< In order of name.
  std::vector<CampaignSnapshot> campaigns;  ///< In no final state, oldest first.
};

/// Give the run out to these nodes; rank r runs on the r mod size-th. One more than there are runs
/// is a new one.
struct PlaceRun {
  int64_t campaign = 0;
  uint32_t run = 0;
  std::vector<std::string> nodes;
  uint32_t points = 0;                   ///< The first `points` of its plan ...
  std::vector<uint32_t> places;          ///< ... or, if not empty, these of the campaign's ...
  std::vector<experiment::Point> added;  ///< ... and these, which it has not had yet.
};
/// The active run has ended well everywhere.
struct CompleteRun {
  int64_t campaign = 0;
  uint32_t run = 0;
};
/// The active run is lost: cancel it everywhere; make it pending again, or failed.
struct LoseRun {
  int64_t campaign = 0;
  uint32_t run = 0;
  std::string reason;
  bool again = true;
  std::optional<std::string> blamed;  ///< The node.
  bool for_good = false;              ///< It would fail again there.
  bool counts = true;                 ///< As one of its attempts, and towards the time budget.
};
/// No further run is made: cancel an active one and use what is there.
struct FinishMeasuring {
  int64_t campaign = 0;
  campaign::StopReason reason = campaign::StopReason::max_runs;
};
/// It was to be cancelled once no run is in progress, and none is.
struct EndDraining {
  int64_t campaign = 0;
};
struct FailCampaign {
  int64_t campaign = 0;
  std::string reason;
};
/// It cannot start or go on now; `reason` is for people.
struct Wait {
  int64_t campaign = 0;
  std::string reason;
  bool for_quiet = false;  ///< Its nodes are free, but their hosts busy with other work.
};
using Decision =
    std::variant<PlaceRun, CompleteRun, LoseRun, FinishMeasuring, EndDraining, FailCampaign, Wait>;

/// `max_failures`: a run lost this often is not tried again, and fails its campaign. At most one
/// decision for each campaign. A Wait changes nothing; when there are only those, there is nothing
/// to do until something happens.
std::vector<Decision> decide(const Snapshot& snapshot, uint32_t max_failures);

/// What the campaign asks for, as optimizer/campaign takes it.
campaign::Rule rule_of(const CampaignSnapshot& campaign);

/// What the campaign measures next, while no run of it is active: campaign::next_run() of it.
campaign::Next next_of(const CampaignSnapshot& campaign);

/// How many finished runs a campaign needs before its results may be used early.
uint32_t enough_runs(const CampaignSnapshot& campaign);

/// How many it needs when its time budget is used up: a model is provisional then.
uint32_t fewest_runs(const CampaignSnapshot& campaign);

/// A time budget that would do for enough runs at the pace so far, if the campaign's own will not:
/// judged by the finished runs or, in the first one, by the pace of its points. In round figures,
/// with a reserve. Nullopt when the budget will do, or nothing has been measured yet.
std::optional<double> sufficient_budget_s(const CampaignSnapshot& campaign);

/// The same where no run is active and the last finished run is what shows it. Nullopt, too, when
/// the finished runs before it had shown it already: who reads messages has been warned then.
std::optional<double> newly_advised_budget_s(const CampaignSnapshot& campaign);

}  // namespace stripline::server
