#include "server/core/campaigns/campaign_steps.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/quantity.h"
#include "optimizer/campaign/left_out.h"
#include "optimizer/experiment/tuning.h"
#include "server/clock.h"
#include "server/core/campaigns/campaign_records.h"
#include "server/core/campaigns/run_points.h"
#include "server/core/sessions/run_order.h"

namespace stripline::server {
namespace {

// What is due is seen to at once, unless the process was stopped or starved.
constexpr double kStallS = 0.25;
// The pause after a failed attempt doubles this number of times at most.
constexpr uint32_t kMaxDoublings = 7;

std::string node_list(const std::vector<std::string>& nodes) {
  std::string text;
  for (const std::string& node : nodes) text += (text.empty() ? "" : ", ") + node_name(node);
  return text;
}

std::string run_of(uint32_t run, size_t total) {
  return "run " + std::to_string(run) + " of " + std::to_string(total);
}

}  // namespace

void CampaignSteps::start() {
  step();  // What needs no agent any more, such as a campaign whose last run had just finished.
  thread_ = std::thread([this] { run(); });
}

void CampaignSteps::join() {
  if (thread_.joinable()) thread_.join();
}

void CampaignSteps::step() {
  const MutexLock lock(state_.mutex);
  make_step();
}

void CampaignSteps::run() {
  MutexLock lock(state_.mutex);
  while (!state_.stopping) {
    state_.timer_changed = false;
    if (state_.step_wanted) make_step();
    const auto deadline_s = next_deadline_s();
    const auto woken = [&]() STRIPLINE_REQUIRES(state_.mutex) {
      return state_.stopping || state_.timer_changed || state_.step_wanted;
    };
    if (!deadline_s) {
      state_.timer_wakes.wait(lock, woken);
      continue;
    }
    const auto wait = std::chrono::duration<double>(*deadline_s - steady_seconds());
    if (!state_.timer_wakes.wait_for(lock, wait, woken)) make_step();
  }
}

// When agents are next given up, unless they are heard of before.
std::optional<double> CampaignSteps::lease_grace_end_s() const {
  std::optional<double> next = state_.sessions.next_deadline_s(state_.silent_s());
  for (const auto& [campaign, active] : state_.active) {
    const auto deadline_s = active.group.next_deadline_s();
    if (deadline_s) next = next ? std::min(*next, *deadline_s) : *deadline_s;
  }
  return next;
}

std::optional<double> CampaignSteps::next_deadline_s() const {
  // Until then nothing can be decided, whatever is due.
  if (const auto retry_s = state_.storage.due_s()) return retry_s;
  std::optional<double> next = lease_grace_end_s();
  const auto consider = [&](std::optional<double> time_s) {
    if (time_s) next = next ? std::min(*next, *time_s) : *time_s;
  };
  for (const auto& [campaign, active] : state_.active) {
    consider(active.budget_end_s);
    consider(active.next_progress_s());
  }
  const double now_s = steady_seconds();
  consider(state_.health.next_release_s(now_s));
  consider(state_.waits.next_end_s(state_.open, state_.options.max_wait_s, now_s));
  consider(next_drain_s());
  return next;
}

// When the next drained node is to end what it works on.
std::optional<double> CampaignSteps::next_drain_s() const {
  std::optional<double> next;
  for (const auto& [name, hold] : state_.holds) {
    if (hold.deadline_unix_s == 0) continue;
    const bool works = std::ranges::any_of(state_.active, [&, &node = name](const auto& entry) {
      return !entry.second.failure && entry.second.group.has_node(node);
    });
    const double due_s = steady_seconds() + hold.deadline_unix_s - unix_seconds();
    if (works) next = next ? std::min(*next, due_s) : due_s;
  }
  return next;
}

// While this process was held up (a stopped or starved host, a slow disk) agents may have spoken
// without being heard: they get as much longer, and another heartbeat.
void CampaignSteps::extend_leases_after_stall(double now_s) {
  const auto due_s = lease_grace_end_s();
  if (!due_s || now_s - *due_s < kStallS) return;
  const double longer_s = now_s - *due_s + state_.options.heartbeat_interval_s;
  spdlog::warn("nothing was seen to for {} or longer; agents get as much more time",
               seconds_text(now_s - *due_s));
  state_.sessions.postpone(longer_s);
  for (auto& [campaign, active] : state_.active) active.group.postpone(longer_s);
}

void CampaignSteps::make_step() {
  state_.step_wanted = false;
  if (state_.stopping) return;
  const Stopwatch stopwatch(state_.meters, Meters::Time::step);
  state_.storage.try_again();
  state_.report(state_.save_nodes());
  state_.report(note_progress(steady_seconds()));
  bool progress = true;
  while (progress) {
    const double now_s = steady_seconds();
    extend_leases_after_stall(now_s);
    close_late_streams(now_s);
    progress = close_silent_sessions(now_s);
    end_drained_runs();
    for (const Decision& decision : decide(take_snapshot(now_s), state_.options.max_failures)) {
      const Result<bool> done = carry_out(decision);
      if (!done.ok()) state_.report(done.error());
      progress = progress || (done.ok() && *done);
    }
  }
  send_offers();
  state_.report(state_.save_ends());
  if (!state_.storage.due_s()) end_outage(steady_seconds());
  state_.change_deadline();
}

// Campaigns are not charged for the time in which nothing could be stored.
void CampaignSteps::end_outage(double now_s) {
  const auto since_s = state_.storage.end();
  if (!since_s) return;
  for (auto& [campaign, active] : state_.active) {
    if (active.ended_s) continue;
    const double lost_s = now_s - std::max(*since_s, active.group.started_s());
    active.outage_s += lost_s;
    active.budget_end_s += lost_s;
  }
}

void CampaignSteps::close_late_streams(double now_s) {
  for (const auto& link : state_.sessions.late_streams(now_s)) {
    link->close(Problem{ErrorCode::unavailable,
                        "SESSION_TIMEOUT",
                        "no Hello within " + exact_seconds_text(state_.silent_s()),
                        {}});
  }
}

bool CampaignSteps::close_silent_sessions(double now_s) {
  std::vector<std::pair<uint64_t, std::string>> closed;
  for (const auto& [id, session] : state_.sessions.all()) {
    const bool silent = now_s >= session.last_heard_s + state_.silent_s();
    const bool stuck = session.holding && session.holding->cancel_deadline_s &&
                       now_s >= *session.holding->cancel_deadline_s;
    if (silent) {
      closed.emplace_back(id, "no heartbeat for " + exact_seconds_text(state_.silent_s()));
    } else if (stuck) {
      closed.emplace_back(id, "a cancelled assignment was not ended in time");
    }
  }
  for (const auto& [id, why] : closed) {
    spdlog::warn("closing the session of {}: {}", node_name(state_.sessions.find(id)->record.name),
                 why);
    state_.meters.count(Meters::Counter::sessions_timed_out);
    state_.drop_session(id, Problem{ErrorCode::unavailable, "SESSION_TIMEOUT", why, {}});
  }
  return !closed.empty();
}

void CampaignSteps::end_drained_runs() {
  for (const auto& [name, hold] : state_.holds) {
    if (hold.deadline_unix_s == 0 || unix_seconds() < hold.deadline_unix_s) continue;
    for (auto& [campaign, active] : state_.active) {
      if (!active.group.has_node(name)) continue;
      active.fail({node_name(name) + " is drained" + reason_text(hold), false, std::nullopt, true});
    }
  }
}

Snapshot CampaignSteps::take_snapshot(double now_s) {
  Snapshot snapshot;
  for (const auto& [id, session] : state_.sessions.all()) {
    if (session.leaving) continue;
    NodeSnapshot node;
    node.name = session.record.name;
    node.free = !session.holding && !session.installing;
    node.cluster = session.record.cluster;
    node.switches = switches_of(session.record.fingerprint);
    node.failures = state_.health.failures(node.name, now_s);
    node.left_out = state_.hold_on(node.name);
    if (node.left_out.empty()) node.left_out = state_.health.quarantine(node.name, now_s);
    if (session.available_until_s) node.available_s = *session.available_until_s - now_s;
    const auto host = session.record.fingerprint.find(std::string(kHostFact));
    if (host != session.record.fingerprint.end()) node.host = host->second;
    node.load = session.host_load;
    node.max_ranks = session.max_ranks;
    node.fabrics = session.fabrics;
    node.experiments = {session.declared, &session.declared->versions};
    snapshot.nodes.push_back(std::move(node));
  }
  std::ranges::sort(snapshot.nodes, {}, &NodeSnapshot::name);

  for (auto& [number, open] : state_.open) {
    if (open.campaign.state == CampaignState::fitting) continue;
    CampaignSnapshot campaign = snapshot_of(state_, open.campaign, open.runs, now_s);
    campaign.points = open.points;
    // Campaigns may wait for nodes while thousands of steps are made.
    if (open.points && !state_.active.contains(number)) {
      if (!open.next) open.next = std::make_shared<const campaign::Next>(next_of(campaign));
      campaign.next = open.next;
    }
    snapshot.campaigns.push_back(std::move(campaign));
  }
  return snapshot;
}

// True if the decision changed anything.
Result<bool> CampaignSteps::carry_out(const Decision& decision) {
  if (const auto* wait = std::get_if<Wait>(&decision)) {
    state_.waits.lacks_nodes(wait->campaign, wait->for_quiet, steady_seconds());
    STRIPLINE_RETURN_IF_ERROR(note_waiting(*wait));
    return false;
  }
  if (const auto* run = std::get_if<PlaceRun>(&decision)) {
    if (state_.draining) return false;
    STRIPLINE_RETURN_IF_ERROR(place(*run));
  } else if (const auto* complete = std::get_if<CompleteRun>(&decision)) {
    STRIPLINE_RETURN_IF_ERROR(complete_run(*complete));
  } else if (const auto* lose = std::get_if<LoseRun>(&decision)) {
    STRIPLINE_RETURN_IF_ERROR(give_up(*lose));
  } else if (const auto* finish = std::get_if<FinishMeasuring>(&decision)) {
    STRIPLINE_RETURN_IF_ERROR(finish_measuring(*finish));
  } else if (const auto* drained = std::get_if<EndDraining>(&decision)) {
    STRIPLINE_RETURN_IF_ERROR(end_campaign(state_, drained->campaign, CampaignState::cancelled,
                                           "cancelled on request; samples are kept"));
  } else if (const auto* fail = std::get_if<FailCampaign>(&decision)) {
    STRIPLINE_RETURN_IF_ERROR(
        end_campaign(state_, fail->campaign, CampaignState::failed, fail->reason));
  }
  return true;
}

Status CampaignSteps::place(const PlaceRun& place) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft_of(state_, place.campaign));
  if (place.run > d.runs.size()) {
    RunRecord more;
    more.key = {place.campaign, place.run};
    more.points_least = d.runs.front().points_least;
    more.points_core = d.runs.front().points_core;
    more.points_all = d.runs.front().points_all;
    d.runs.push_back(more);
  }
  RunRecord& run = d.run(place.run);
  run.grid = place.points;
  STRIPLINE_ASSIGN_OR_RETURN(const std::string plan, plan_run(state_.store, d, place));
  run.state = RunState::active;
  run.fence = std::max(run.fence, state_.store.fence_base()) + 1;
  run.points_done = 0;
  run.duration_s = 0;
  run.start_s = 0;
  run.message.clear();
  run.rank_nodes.clear();
  for (uint32_t rank = 0; rank < d.campaign.spec.ranks; ++rank) {
    run.rank_nodes.push_back(place.nodes[rank % place.nodes.size()]);
  }
  STRIPLINE_ASSIGN_OR_RETURN(
      std::string text, order_text(plan, run.fence, run.points_total, d.campaign.spec.time_budget_s,
                                   d.campaign.spec.left_out));
  const Order order = std::make_shared<const std::string>(std::move(text));
  std::map<std::string, std::string> instances;
  for (const std::string& node : place.nodes) {
    instances[node] = state_.sessions.of_node(node)->instance_id;
  }
  d.changes.attempts.push_back(
      {run.key, run.fence, run.rank_nodes.front(), instances, {}, unix_seconds()});
  // An agent says that its part has ended until it gets another order.
  d.changes.facts = state_.unsaved_ends;
  d.campaign.state = CampaignState::running;
  d.campaign.message = run_of(place.run, d.runs.size()) + " started on " + node_list(place.nodes);
  STRIPLINE_RETURN_IF_ERROR(commit(state_, d, d.campaign.message));
  state_.unsaved_ends.clear();
  state_.meters.count(Meters::Counter::runs_started);
  spdlog::info("{}: {}", campaign_name(place.campaign), d.campaign.message);

  ActiveRun active(
      RunGroup(run.key, run.fence, run.rank_nodes,
               {state_.options.lease_s, state_.options.join_timeout_s}, steady_seconds()),
      run.points_total);
  active.budget_end_s =
      active.group.started_s() + std::max(0.0, budget_s(d.campaign.spec) - d.campaign.measured_s);
  active.instances = std::move(instances);
  for (const std::string& node : active.group.nodes()) {
    active.facts[node] = state_.sessions.of_node(node)->record.fingerprint;
  }
  state_.waits.stop_waiting(place.campaign, steady_seconds());
  const auto& placed =
      state_.active.insert_or_assign(place.campaign, std::move(active)).first->second;
  for (const std::string& node : placed.group.nodes()) {
    orders_.send(*state_.sessions.of_node(node), placed.group, order);
  }
  return {};
}

// The experiment that the campaign goes on without, because an attempt has failed at its points;
// empty: none.
std::string CampaignSteps::leave_out(CampaignRecord& campaign, const LoseRun& lose) {
  const auto active = state_.active.find(lose.campaign);
  if (active == state_.active.end() || !active->second.failure || !lose.counts) return {};
  const std::string& experiment = active->second.failure->experiment;
  const bool left_out =
      campaign::leave_out(experiment, lose.reason, lose.for_good, campaign.requirements,
                          state_.waits.failures_at(lose.campaign), campaign.spec.left_out);
  return left_out ? experiment : std::string();
}

// The active run is lost or failed: it is queued again, or fails for good.
Status CampaignSteps::give_up(const LoseRun& lose) {
  const RunKey key{lose.campaign, lose.run};
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft_of(state_, key.campaign));
  RunRecord& run = d.run(key.run);
  if (lose.counts) ++run.failures;
  run.message = lose.reason;
  run.points_done = 0;
  const std::string left_out = leave_out(d.campaign, lose);
  // The next attempt is at another run, so to say: it measures the others.
  if (!left_out.empty()) run.failures = 0;
  const bool again = lose.again || !left_out.empty();
  run.state = again ? RunState::pending : RunState::failed;
  d.changes.orphaned.push_back(key);
  charge_active_run(state_, d.campaign, lose.counts);
  d.campaign.message =
      run_of(key.run, d.runs.size()) + (again ? " was lost: " : " failed: ") + lose.reason;
  if (!left_out.empty()) {
    d.campaign.message += "; " + left_out + " is left out from now on, and the others are measured";
  } else if (again) {
    d.campaign.message += "; it is measured again";
    if (lose.counts) {
      d.campaign.message += " (attempt " + std::to_string(run.failures + 1) + " of " +
                            std::to_string(state_.options.max_failures) + ")";
    }
  }
  STRIPLINE_RETURN_IF_ERROR(commit(state_, d, d.campaign.message));
  state_.meters.count(Meters::Counter::runs_lost);
  spdlog::warn("{}: {}", campaign_name(key.campaign), d.campaign.message);
  const double now_s = steady_seconds();
  if (!left_out.empty()) {
    // It was the experiment, not the nodes.
    for (const std::string& node : run.rank_nodes) state_.health.succeeded(node);
  } else if (lose.blamed) {
    state_.health.failed(key.campaign, *lose.blamed, lose.for_good, lose.reason, now_s);
    if (const auto why = state_.health.quarantine(*lose.blamed, now_s); !why.empty()) {
      spdlog::warn("{} is {}", node_name(*lose.blamed), why);
    }
  }
  if (lose.counts && left_out.empty()) {
    const uint32_t doublings = std::min(run.failures, kMaxDoublings) - 1;
    state_.waits.pause(key.campaign, now_s + std::ldexp(state_.options.retry_pause_s, doublings));
  }
  release_group(state_, key.campaign, lose.reason);
  return {};
}

Status CampaignSteps::complete_run(const CompleteRun& complete) {
  const auto found = state_.active.find(complete.campaign);
  if (found == state_.active.end()) {
    return Error(ErrorCode::internal, campaign_name(complete.campaign) + " has no active run");
  }
  const ActiveRun& active = found->second;
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft_of(state_, complete.campaign));
  RunRecord& run = d.run(complete.run);
  if (active.stored_points < active.points) {
    const bool again = run.failures + 1 < state_.options.max_failures;
    return give_up({complete.campaign, complete.run,
                    "its ranks ended with samples of " + std::to_string(active.stored_points) +
                        " of its " + count_text(active.points, "point"),
                    again, std::nullopt, false});
  }
  // Values that are all zero count as samples, but say nothing.
  const auto took_time = [](const campaign::PointResult& result) { return result.median != 0; };
  if (std::ranges::none_of(active.results, took_time)) {
    return give_up(
        {complete.campaign, complete.run, "nothing could be measured: " + active.note, false});
  }
  run.state = RunState::finished;
  run.points_done = run.points_total;
  run.duration_s = state_.active_seconds(complete.campaign).value_or(0);
  run.start_s = active.pace.start_s();
  d.campaign.measured_s += run.duration_s;
  d.campaign.message = run_of(complete.run, d.runs.size()) + " finished" + budget_warning(d);
  d.campaign.samples += active.samples;
  for (const auto& [node, facts] : active.facts) {
    d.changes.facts.push_back({run.key, run.fence, node, facts});
  }
  STRIPLINE_RETURN_IF_ERROR(add_results(state_.store, d, active));
  STRIPLINE_RETURN_IF_ERROR(commit(state_, d, d.campaign.message));
  for (const std::string& node : active.group.nodes()) state_.health.succeeded(node);
  state_.meters.count(Meters::Counter::runs_finished);
  end_active(state_, complete.campaign);
  return {};
}

Status CampaignSteps::finish_measuring(const FinishMeasuring& finish) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft_of(state_, finish.campaign));
  close_open_runs(state_, d);
  const auto finished = std::ranges::count_if(
      d.runs, [](const RunRecord& run) { return run.state == RunState::finished; });
  std::string message =
      std::to_string(finished) + " of " + std::to_string(d.runs.size()) + " runs measured";
  d.campaign.stop_reason = to_string(finish.reason);
  message += campaign::left_out_text(d.campaign.spec.left_out);
  if (finish.reason != campaign::StopReason::max_runs) {
    message = d.campaign.stop_reason + ": " + message;
  }
  const std::string& verified = d.campaign.spec.verifies;
  const bool tunes = !experiment::tuned_target(d.campaign.spec.fabric).empty() && verified.empty();
  if (d.campaign.feeds_model || tunes) {
    d.campaign.state = CampaignState::fitting;
    d.campaign.message = message + (tunes ? "; publishing the settings" : "; fitting the model");
  } else {
    d.campaign.state = CampaignState::succeeded;
    d.campaign.message =
        message + (!verified.empty() ? "; the settings of " + verified + " were tried again"
                   : d.campaign.spec.model.empty() ? "; no model was asked for"
                                                   : "; none of the experiments feeds a model");
  }
  STRIPLINE_RETURN_IF_ERROR(commit(state_, d, d.campaign.message));
  spdlog::info("{}: {}", campaign_name(finish.campaign), d.campaign.message);
  release_group(state_, finish.campaign, "the campaign's budget is used up");
  forget_waits(state_, finish.campaign);
  if (d.campaign.state == CampaignState::fitting) fits_.add_campaign(finish.campaign);
  return {};
}

Status CampaignSteps::note_waiting(const Wait& wait) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft_of(state_, wait.campaign));
  if (d.campaign.message == wait.reason) return {};
  d.campaign.message = wait.reason;
  return commit(state_, d, wait.reason);
}

// The warning about a run that has just finished and been charged. Once in a campaign: all its
// events carry what is advised as a figure of their own.
std::string CampaignSteps::budget_warning(const Draft& d) const {
  const auto advice =
      newly_advised_budget_s(snapshot_of(state_, d.campaign, d.runs, steady_seconds()));
  if (!advice) return "";
  return "; " + exact_seconds_text(budget_s(d.campaign.spec)) +
         " of measuring are too few at this pace, " + budget_text(d.campaign.spec, *advice) +
         " would do" +
         (d.campaign.feeds_model ? " (a model of fewer runs will be provisional)" : "");
}

// How far active runs have come, twice a second at most: in one step of the store for all of them.
Status CampaignSteps::note_progress(double now_s) {
  Changes changes;
  std::vector<Draft> drafts;
  for (auto& [number, active] : state_.active) {
    if (!active.tells_progress(now_s)) continue;
    STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft_of(state_, number));
    RunRecord& run = d.run(active.group.run().run);
    run.duration_s = state_.active_seconds(number).value_or(0);
    run.start_s = active.pace.start_s();
    add_records(state_, d,
                "run " + std::to_string(run.key.run) + " of " + std::to_string(d.runs.size()) +
                    ": " + std::to_string(active.stored_points) + " of " +
                    count_text(active.points, "point"));
    const auto append = [](auto& to, auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(changes.campaigns, d.changes.campaigns);
    append(changes.runs, d.changes.runs);
    append(changes.events, d.changes.events);
    drafts.push_back(std::move(d));
  }
  if (drafts.empty()) return {};
  STRIPLINE_RETURN_IF_ERROR(state_.store.apply(changes));
  for (const Draft& d : drafts) {
    remember(state_, d);
    ActiveRun& active = state_.active.at(d.campaign.number);
    active.progressed = false;
    active.last_progress_event_s = now_s;
    state_.hub.notify(d.campaign.number);
  }
  return {};
}

// Not to agents that measure: what they get meanwhile would disturb them.
void CampaignSteps::send_offers() {
  for (auto& [id, session] : state_.sessions.all()) {
    if (!session.takes_models || session.holding) continue;
    for (ServerMessage& message :
         models_.offers_to(session.record.name, *session.fabrics, session.models)) {
      session.link->send(std::move(message));
    }
  }
}

}  // namespace stripline::server
