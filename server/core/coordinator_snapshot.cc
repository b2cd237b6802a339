// What the coordinator shows of its state to those who decide without any.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/network_name.h"
#include "base/quantity.h"
#include "server/clock.h"
#include "server/core/coordinator.h"

namespace stripline::server {

Snapshot Coordinator::take_snapshot(double now_s) {
  Snapshot snapshot;
  for (const auto& [id, session] : sessions_) {
    if (session.leaving) continue;
    NodeSnapshot node;
    node.name = session.record.name;
    node.free = !session.holding;
    node.cluster = session.record.cluster;
    node.switches = switches_of(session.record.fingerprint);
    node.failures = health_.failures(node.name, now_s);
    node.left_out = hold_on(node.name);
    if (node.left_out.empty()) node.left_out = health_.quarantine(node.name, now_s);
    if (session.available_until_s) node.available_s = *session.available_until_s - now_s;
    const auto host = session.record.fingerprint.find(std::string(kHostFact));
    if (host != session.record.fingerprint.end()) node.host = host->second;
    node.load = session.host_load;
    node.fabrics = session.fabrics;
    node.experiments = {session.declared, &session.declared->versions};
    snapshot.nodes.push_back(std::move(node));
  }
  std::ranges::sort(snapshot.nodes, {}, &NodeSnapshot::name);

  for (auto& [number, open] : open_) {
    if (open.campaign.state == CampaignState::fitting) continue;
    CampaignSnapshot campaign = snapshot_of(open.campaign, open.runs, now_s);
    campaign.points = open.points;
    // Campaigns may wait for nodes while thousands of steps are made.
    if (open.points && !active_.contains(number)) {
      if (!open.next) open.next = std::make_shared<const campaign::Next>(next_of(campaign));
      campaign.next = open.next;
    }
    snapshot.campaigns.push_back(std::move(campaign));
  }
  return snapshot;
}

CampaignSnapshot Coordinator::snapshot_of(const CampaignRecord& record,
                                          const std::vector<RunRecord>& runs, double now_s) const {
  CampaignSnapshot campaign;
  campaign.number = record.number;
  campaign.state = record.state;
  campaign.fabric = network_name(record.spec.fabric);
  // Campaigns of before there were clusters name none.
  if (!record.spec.cluster.empty()) campaign.cluster = record.spec.cluster;
  campaign.nodes = record.spec.nodes;
  campaign.ranks = record.spec.ranks;
  campaign.when_busy = record.spec.clock == "virtual" ? WhenBusy::measure : record.spec.when_busy;
  campaign.quiet_patience_s = patience_left_s(record, now_s);
  for (const std::string& node : record.spec.only_nodes) {
    campaign.only_nodes.insert(*parse_node_name(node));
  }
  campaign.seed = record.spec.seed;
  campaign.suspects = health_.suspects(record.number);
  campaign.unfit = health_.unfit(record.number);
  const auto pause = paused_until_s_.find(record.number);
  const auto waiting = waiting_since_s_.find(record.number);
  campaign.overdue =
      waiting != waiting_since_s_.end() && now_s >= waiting->second + options_.max_wait_s;
  campaign.paused = pause != paused_until_s_.end() && now_s < pause->second;
  campaign.requirements = record.requirements;
  campaign.feeds_model = record.feeds_model;
  campaign.planned_run_s = record.planned_run_s;
  // With just enough runs none can be spared.
  campaign.pilot = record.feeds_model && record.spec.effort != Effort::full &&
                   record.spec.runs > kMinRunsForIntervals;
  // A race begins with a part of the plan (race_plan.h).
  campaign.race = record.spec.race;
  campaign.pilot = campaign.pilot || campaign.race;
  // A run that has just been charged is active no more, whatever else is known of it.
  const bool running =
      std::ranges::any_of(runs, [](const RunRecord& run) { return run.state == RunState::active; });
  campaign.measured_s =
      record.measured_s + (running ? active_seconds(record.number).value_or(0) : 0);
  campaign.time_budget_s = record.spec.time_budget_s;
  campaign.node_budget_s = record.spec.node_budget_s;
  campaign.width = record.spec.width;
  campaign.planned_runs = record.spec.runs;
  const auto active = active_.find(record.number);
  for (const RunRecord& run : runs) {
    RunSnapshot entry;
    entry.run = run.key.run;
    entry.state = run.state;
    entry.failures = run.failures;
    entry.duration_s = run.duration_s;
    entry.start_s = run.start_s;
    entry.points = run.points_total;
    entry.grid = run.grid;
    entry.points_least = run.points_least;
    entry.points_core = run.points_core;
    entry.points_all = run.points_all;
    entry.rank_nodes = run.rank_nodes;
    entry.message = run.message;
    if (run.state == RunState::active && active != active_.end()) {
      const ActiveRun& now = active->second;
      entry.active_s = active_seconds(record.number).value_or(0);
      entry.pace = now.pace.pace();
      entry.complete = now.group.all_finished();
      entry.lost = now.failure ? now.failure->reason : now.group.lost(now_s);
      entry.lost_for_good = now.failure && now.failure->for_good;
      entry.lost_at = now.failure ? now.failure->node : now.group.lost_at(now_s);
      entry.lost_at_will = now.failure && now.failure->at_will;
    }
    campaign.runs.push_back(std::move(entry));
  }
  return campaign;
}

// A time budget that would do for the campaign in this draft; nullopt when its own will.
std::optional<double> Coordinator::advised_budget_s(const Draft& d) const {
  return sufficient_budget_s(snapshot_of(d.campaign, d.runs, steady_seconds()));
}

// The warning about a run that has just finished and been charged. Once in a campaign: all its
// events carry what is advised as a figure of their own.
std::string Coordinator::budget_warning(const Draft& d) const {
  const auto advice = newly_advised_budget_s(snapshot_of(d.campaign, d.runs, steady_seconds()));
  if (!advice) return "";
  return "; " + exact_seconds_text(budget_s(d.campaign.spec)) +
         " of measuring are too few at this pace, " + budget_text(d.campaign.spec, *advice) +
         " would do" +
         (d.campaign.feeds_model ? " (a model of fewer runs will be provisional)" : "");
}

}  // namespace stripline::server
