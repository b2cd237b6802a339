#include "server/core/coordinator.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/quantity.h"
#include "server/clock.h"
#include "server/core/sessions/run_order.h"

namespace stripline::server {
namespace {

constexpr double kSilentIntervals = 3;
// What is due is seen to at once, unless the process was stopped or starved.
constexpr double kStallS = 0.25;
// The pause after a failed attempt doubles so often.
constexpr uint32_t kMostDoublings = 7;

std::string node_list(const std::vector<std::string>& nodes) {
  std::string text;
  for (const std::string& node : nodes) text += (text.empty() ? "" : ", ") + node_name(node);
  return text;
}

std::string run_of(uint32_t run, size_t total) {
  return "run " + std::to_string(run) + " of " + std::to_string(total);
}

}  // namespace

Coordinator::Coordinator(Store& store, WatchHub& hub, Meters& meters, Fitter fitter,
                         const CoordinatorOptions& options)
    : store_(store),
      hub_(hub),
      meters_(meters),
      fitter_(std::move(fitter)),
      options_(options),
      ingest_(store, [this](const std::vector<Arrival>& group) { on_stored(group); }) {}

Coordinator::~Coordinator() { stop(); }

Status Coordinator::start() {
  STRIPLINE_RETURN_IF_ERROR(recover_holds());
  STRIPLINE_RETURN_IF_ERROR(recover_models());
  STRIPLINE_RETURN_IF_ERROR(recover_operations());
  STRIPLINE_RETURN_IF_ERROR(recover());
  {
    const MutexLock lock(mutex_);
    step();  // What needs no agent any more, such as a campaign whose last run had just finished.
  }
  timer_ = std::thread([this] { run_timer(); });
  fitting_ = std::thread([this] { run_fitter(); });
  return {};
}

void Coordinator::stop() {
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;
    report(save_nodes());
    report(save_ends());
    stopping_ = true;
    for (auto& [id, session] : sessions_) {
      session.link->close({ErrorCode::unavailable,
                           "SERVER_STOPPING",
                           "the server is stopping; connect again when it is back",
                           {}});
    }
    sessions_.clear();
    session_ids_.clear();
  }
  ingest_.stop();
  timer_wakes_.notify_all();
  fitter_wakes_.notify_all();
  stop_fits_.request_stop();
  if (timer_.joinable()) timer_.join();
  if (fitting_.joinable()) fitting_.join();
}

void Coordinator::run_timer() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    timer_changed_ = false;
    if (step_wanted_) step();
    const auto deadline_s = next_deadline_s();
    const auto woken = [&]() STRIPLINE_REQUIRES(mutex_) {
      return stopping_ || timer_changed_ || step_wanted_;
    };
    if (!deadline_s) {
      timer_wakes_.wait(lock, woken);
      continue;
    }
    const auto wait = std::chrono::duration<double>(*deadline_s - steady_seconds());
    if (!timer_wakes_.wait_for(lock, wait, woken)) step();
  }
}

// When agents are next given up, unless they are heard of before.
std::optional<double> Coordinator::end_of_patience_s() const {
  std::optional<double> next;
  const auto consider = [&](double time_s) { next = next ? std::min(*next, time_s) : time_s; };
  for (const auto& [id, session] : sessions_) {
    consider(session.last_heard_s + silent_s());
    if (session.holding && session.holding->cancel_deadline_s) {
      consider(*session.holding->cancel_deadline_s);
    }
  }
  if (!strangers_.empty()) consider(strangers_.front().deadline_s);
  for (const auto& [campaign, active] : active_) {
    if (const auto deadline_s = active.group.next_deadline_s()) consider(*deadline_s);
  }
  return next;
}

std::optional<double> Coordinator::next_deadline_s() const {
  if (retry_s_) return retry_s_;  // Until then nothing can be decided, whatever is due.
  std::optional<double> next = end_of_patience_s();
  for (const auto& [campaign, active] : active_) {
    next = next ? std::min(*next, active.budget_end_s) : active.budget_end_s;
    if (active.progressed) next = std::min(*next, active.last_progress_event_s + kProgressEventS);
  }
  const double now_s = steady_seconds();
  if (const auto release_s = health_.next_release_s(now_s)) {
    next = next ? std::min(*next, *release_s) : *release_s;
  }
  for (const auto& [campaign, until_s] : paused_until_s_) {
    if (until_s > now_s) next = next ? std::min(*next, until_s) : until_s;
  }
  for (const auto& [campaign, since_s] : waiting_since_s_) {
    const double end_s = since_s + options_.max_wait_s;
    next = next ? std::min(*next, end_s) : end_s;
  }
  for (const auto& [campaign, waits] : quiet_waits_) {
    const auto open = open_.find(campaign);
    if (!waits.since_s || open == open_.end()) continue;
    const double end_s = now_s + patience_left_s(open->second.campaign, now_s);
    next = next ? std::min(*next, end_s) : end_s;
  }
  if (const auto drain_s = next_drain_s()) next = next ? std::min(*next, *drain_s) : *drain_s;
  return next;
}

// While this process was held up (a stopped or starved host, a slow disk) agents may have spoken
// without being heard: they get as much longer, and another heartbeat.
void Coordinator::be_patient_after_a_stall(double now_s) {
  const auto due_s = end_of_patience_s();
  if (!due_s || now_s - *due_s < kStallS) return;
  const double longer_s = now_s - *due_s + options_.heartbeat_interval_s;
  spdlog::warn("nothing was seen to for {} or longer; agents get as much more time",
               seconds_text(now_s - *due_s));
  for (auto& [id, session] : sessions_) {
    session.last_heard_s += longer_s;
    if (session.holding && session.holding->cancel_deadline_s) {
      *session.holding->cancel_deadline_s += longer_s;
    }
  }
  for (Stranger& stranger : strangers_) stranger.deadline_s += longer_s;
  for (auto& [campaign, active] : active_) active.group.postpone(longer_s);
}

// Something has happened of which more may follow: the timer's thread sees to it, once for all that
// happens until then.
void Coordinator::want_step() {
  step_wanted_ = true;
  timer_wakes_.notify_all();
}

// Decides and acts until nothing is left to do. The caller holds the lock.
void Coordinator::step() {
  step_wanted_ = false;
  if (stopping_) return;
  const Stopwatch stopwatch(meters_, Meters::Time::step);
  retry_s_.reset();
  report(save_nodes());
  report(note_progress(steady_seconds()));
  bool progress = true;
  while (progress) {
    const double now_s = steady_seconds();
    be_patient_after_a_stall(now_s);
    close_silent_strangers(now_s);
    progress = close_silent_sessions(now_s);
    end_drained_runs();
    for (const Decision& decision : decide(take_snapshot(now_s), options_.max_failures)) {
      const Result<bool> done = carry_out(decision);
      if (!done.ok()) report(done.error());
      progress = progress || (done.ok() && *done);
    }
  }
  send_offers();
  report(save_ends());
  if (!retry_s_) end_outage(steady_seconds());
  timer_changed_ = true;
  timer_wakes_.notify_all();
}

// Everything can be stored again. Campaigns are not charged for the time in which it could not.
void Coordinator::end_outage(double now_s) {
  if (!outage_since_s_) return;
  for (auto& [campaign, active] : active_) {
    if (active.ended_s) continue;
    const double lost_s = now_s - std::max(*outage_since_s_, active.group.started_s());
    active.outage_s += lost_s;
    active.budget_end_s += lost_s;
  }
  outage_since_s_.reset();
  outage_.reset();
}

std::optional<StorageOutage> Coordinator::storage_outage() {
  if (auto outage = store_.outage()) return outage;
  const MutexLock lock(mutex_);
  return outage_;
}

void Coordinator::report(const Status& status) {
  if (status.ok()) return;
  spdlog::error("{}; trying again in {}", status.error().message(),
                exact_seconds_text(options_.storage_retry_s));
  const double now_s = steady_seconds();
  retry_s_ = now_s + options_.storage_retry_s;
  if (!outage_since_s_) outage_since_s_ = now_s;
  // What cannot be read of one campaign keeps no other from being stored.
  const ErrorCode code = status.error().code();
  if (code != ErrorCode::unavailable && code != ErrorCode::resource_exhausted) return;
  const double since_unix_s = outage_ ? outage_->since_unix_s : unix_seconds();
  outage_ = StorageOutage{since_unix_s, status.error().message()};
}

double Coordinator::silent_s() const { return kSilentIntervals * options_.heartbeat_interval_s; }

void Coordinator::close_silent_strangers(double now_s) {
  for (; !strangers_.empty() && now_s >= strangers_.front().deadline_s; strangers_.pop_front()) {
    const auto link = strangers_.front().link.lock();
    if (!link) continue;
    link->close(Problem{ErrorCode::unavailable,
                        "SESSION_TIMEOUT",
                        "no Hello within " + exact_seconds_text(silent_s()),
                        {}});
  }
}

bool Coordinator::close_silent_sessions(double now_s) {
  bool closed = false;
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    const auto current = it++;
    const Session& session = current->second;
    const bool silent = now_s >= session.last_heard_s + silent_s();
    const bool stuck = session.holding && session.holding->cancel_deadline_s &&
                       now_s >= *session.holding->cancel_deadline_s;
    if (!silent && !stuck) continue;
    const std::string why = silent ? "no heartbeat for " + exact_seconds_text(silent_s())
                                   : "a cancelled assignment was not ended in time";
    spdlog::warn("closing the session of {}: {}", node_name(session.record.name), why);
    meters_.count(Meters::Counter::sessions_timed_out);
    drop_session(current, Problem{ErrorCode::unavailable, "SESSION_TIMEOUT", why, {}});
    closed = true;
  }
  return closed;
}

// True if the decision changed anything.
Result<bool> Coordinator::carry_out(const Decision& decision) {
  if (const auto* wait = std::get_if<Wait>(&decision)) {
    const double now_s = steady_seconds();
    waiting_since_s_.try_emplace(wait->campaign, now_s);
    if (!wait->for_quiet) {
      end_quiet_wait(wait->campaign);
    } else if (auto& since_s = quiet_waits_[wait->campaign].since_s; !since_s) {
      since_s = now_s;
    }
    STRIPLINE_RETURN_IF_ERROR(note_waiting(*wait));
    return false;
  }
  if (const auto* run = std::get_if<PlaceRun>(&decision)) {
    if (draining_) return false;
    STRIPLINE_RETURN_IF_ERROR(place(*run));
  } else if (const auto* complete = std::get_if<CompleteRun>(&decision)) {
    STRIPLINE_RETURN_IF_ERROR(complete_run(*complete));
  } else if (const auto* lose = std::get_if<LoseRun>(&decision)) {
    STRIPLINE_RETURN_IF_ERROR(give_up(*lose));
  } else if (const auto* finish = std::get_if<FinishMeasuring>(&decision)) {
    STRIPLINE_RETURN_IF_ERROR(finish_measuring(*finish));
  } else if (const auto* drained = std::get_if<EndDraining>(&decision)) {
    STRIPLINE_RETURN_IF_ERROR(end_campaign(drained->campaign, CampaignState::cancelled,
                                           "cancelled on request; samples are kept"));
  } else if (const auto* fail = std::get_if<FailCampaign>(&decision)) {
    STRIPLINE_RETURN_IF_ERROR(end_campaign(fail->campaign, CampaignState::failed, fail->reason));
  }
  return true;
}

Status Coordinator::place(const PlaceRun& place) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft(place.campaign));
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
  STRIPLINE_ASSIGN_OR_RETURN(const std::string plan, plan_of(d, place));
  run.state = RunState::active;
  run.fence = std::max(run.fence, store_.fence_base()) + 1;
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
    instances[node] = session_of_node(node)->second.instance_id;
  }
  d.changes.attempts.push_back({run.key, run.fence, run.rank_nodes.front(), instances, {}});
  // An agent says that its part has ended until it gets another order.
  d.changes.facts = unsaved_ends_;
  d.campaign.state = CampaignState::running;
  d.campaign.message = run_of(place.run, d.runs.size()) + " started on " + node_list(place.nodes);
  STRIPLINE_RETURN_IF_ERROR(commit(d, d.campaign.message));
  unsaved_ends_.clear();
  meters_.count(Meters::Counter::runs_started);
  spdlog::info("{}: {}", campaign_name(place.campaign), d.campaign.message);

  ActiveRun active(RunGroup(run.key, run.fence, run.rank_nodes,
                            {options_.lease_s, options_.join_timeout_s}, steady_seconds()),
                   run.points_total);
  active.budget_end_s =
      active.group.started_s() + std::max(0.0, budget_s(d.campaign.spec) - d.campaign.measured_s);
  active.instances = std::move(instances);
  for (const std::string& node : active.group.nodes()) {
    active.facts[node] = session_of_node(node)->second.record.fingerprint;
  }
  waiting_since_s_.erase(place.campaign);
  end_quiet_wait(place.campaign);
  const auto& placed = active_.insert_or_assign(place.campaign, std::move(active)).first->second;
  for (const std::string& node : placed.group.nodes()) {
    send_order(session_of_node(node)->second, placed.group, order);
  }
  return {};
}

std::optional<double> Coordinator::active_seconds(int64_t campaign) const {
  const auto found = active_.find(campaign);
  if (found == active_.end()) return std::nullopt;
  const ActiveRun& active = found->second;
  const double end_s = active.ended_s.value_or(outage_since_s_.value_or(steady_seconds()));
  return std::max(0.0, end_s - active.group.started_s() - active.outage_s);
}

// The next step gives the run up. The first failure counts.
void Coordinator::fail(ActiveRun& active, Failure failure) {
  if (active.failure) return;
  active.failure = std::move(failure);
  active.ended_s = steady_seconds();
}

// What is only remembered while a campaign measures.
void Coordinator::forget(int64_t campaign) {
  health_.forget(campaign);
  failures_at_.erase(campaign);
  paused_until_s_.erase(campaign);
  waiting_since_s_.erase(campaign);
  quiet_waits_.erase(campaign);
}

// How much longer the campaign waits for its hosts to become quiet.
double Coordinator::patience_left_s(const CampaignRecord& campaign, double now_s) const {
  double left_s = quiet_patience_s(campaign.spec);
  const auto waits = quiet_waits_.find(campaign.number);
  if (waits == quiet_waits_.end()) return left_s;
  left_s -= waits->second.before_s;
  if (waits->second.since_s) left_s -= now_s - *waits->second.since_s;
  return std::max(0.0, left_s);
}

// It does not wait for that any more, or not only.
void Coordinator::end_quiet_wait(int64_t campaign) {
  const auto waits = quiet_waits_.find(campaign);
  if (waits == quiet_waits_.end() || !waits->second.since_s) return;
  waits->second.before_s += steady_seconds() - *waits->second.since_s;
  waits->second.since_s.reset();
}

// Ends the campaign's active group: nodes that still work on it are asked to stop.
void Coordinator::release_group(int64_t campaign, const std::string& message) {
  const auto found = active_.find(campaign);
  if (found == active_.end()) return;
  const RunGroup& group = found->second.group;
  for (const std::string& node : group.nodes()) {
    const auto session = session_of_node(node);
    if (session == sessions_.end()) continue;
    const auto& holding = session->second.holding;
    if (holding && holding->run == group.run() && holding->fence == group.fence()) {
      send_cancel(session->second, group.run(), group.fence(), message);
    }
  }
  end_active(found);
}

void Coordinator::end_active(std::map<int64_t, ActiveRun>::iterator active) {
  const RunKey run = active->second.group.run();
  std::erase_if(unsaved_ends_, [&](const AttemptFacts& end) { return end.run == run; });
  active_.erase(active);
}

// If this was the second time that an attempt failed at points of one experiment, or another
// attempt would fail there for good, the campaign goes on without it as long as there are others.
// Returns its name; empty: none is left out.
std::string Coordinator::leave_out(CampaignRecord& campaign, const LoseRun& lose) {
  constexpr uint32_t kMostFailures = 2;
  const auto active = active_.find(lose.campaign);
  if (active == active_.end() || !active->second.failure || !lose.counts) return {};
  const std::string& experiment = active->second.failure->experiment;
  auto& left_out = campaign.spec.left_out;
  if (!campaign.requirements.contains(experiment) || left_out.contains(experiment)) return {};
  const uint32_t failures = ++failures_at_[lose.campaign][experiment];
  if (failures < kMostFailures && !lose.for_good) return {};
  if (left_out.size() + 1 >= campaign.requirements.size()) return {};
  left_out[experiment] = lose.reason;
  return experiment;
}

// The active run is lost or failed: it is queued again, or fails for good.
Status Coordinator::give_up(const LoseRun& lose) {
  const RunKey key{lose.campaign, lose.run};
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft(key.campaign));
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
  charge_active_run(d.campaign, lose.counts);
  d.campaign.message =
      run_of(key.run, d.runs.size()) + (again ? " was lost: " : " failed: ") + lose.reason;
  if (!left_out.empty()) {
    d.campaign.message += "; " + left_out + " is left out from now on, and the others are measured";
  } else if (again) {
    d.campaign.message += "; it is measured again";
    if (lose.counts) {
      d.campaign.message += " (attempt " + std::to_string(run.failures + 1) + " of " +
                            std::to_string(options_.max_failures) + ")";
    }
  }
  STRIPLINE_RETURN_IF_ERROR(commit(d, d.campaign.message));
  meters_.count(Meters::Counter::runs_lost);
  spdlog::warn("{}: {}", campaign_name(key.campaign), d.campaign.message);
  const double now_s = steady_seconds();
  if (!left_out.empty()) {
    // It was the experiment, not the nodes.
    for (const std::string& node : run.rank_nodes) health_.succeeded(node);
  } else if (lose.blamed) {
    health_.failed(key.campaign, *lose.blamed, lose.for_good, lose.reason, now_s);
    if (const auto why = health_.quarantine(*lose.blamed, now_s); !why.empty()) {
      spdlog::warn("{} is {}", node_name(*lose.blamed), why);
    }
  }
  if (lose.counts && left_out.empty()) {
    const uint32_t doublings = std::min(run.failures, kMostDoublings) - 1;
    paused_until_s_[key.campaign] = now_s + std::ldexp(options_.retry_pause_s, doublings);
  }
  release_group(key.campaign, lose.reason);
  return {};
}

Status Coordinator::complete_run(const CompleteRun& complete) {
  const auto found = active_.find(complete.campaign);
  if (found == active_.end()) {
    return Error(ErrorCode::internal, campaign_name(complete.campaign) + " has no active run");
  }
  const ActiveRun& active = found->second;
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft(complete.campaign));
  RunRecord& run = d.run(complete.run);
  if (active.stored_points < active.points) {
    const bool again = run.failures + 1 < options_.max_failures;
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
  run.duration_s = active_seconds(complete.campaign).value_or(0);
  run.start_s = active.pace.start_s();
  d.campaign.measured_s += run.duration_s;
  d.campaign.message = run_of(complete.run, d.runs.size()) + " finished" + budget_warning(d);
  d.campaign.samples += active.samples;
  for (const auto& [node, facts] : active.facts) {
    d.changes.facts.push_back({run.key, run.fence, node, facts});
  }
  STRIPLINE_RETURN_IF_ERROR(add_results(d, active));
  STRIPLINE_RETURN_IF_ERROR(commit(d, d.campaign.message));
  for (const std::string& node : active.group.nodes()) health_.succeeded(node);
  meters_.count(Meters::Counter::runs_finished);
  end_active(found);
  return {};
}

// The time and the samples of a run that is not to be finished.
void Coordinator::charge_active_run(CampaignRecord& campaign, bool time_counts) const {
  if (time_counts) campaign.measured_s += active_seconds(campaign.number).value_or(0);
  const auto found = active_.find(campaign.number);
  if (found != active_.end()) campaign.samples += found->second.samples;
}

// Runs that have not finished are not made any more.
void Coordinator::close_open_runs(Draft& d) {
  charge_active_run(d.campaign);
  for (RunRecord& run : d.runs) {
    if (run.state == RunState::pending || run.state == RunState::active) {
      run.state = RunState::cancelled;
    }
  }
}

Status Coordinator::finish_measuring(const FinishMeasuring& finish) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft(finish.campaign));
  close_open_runs(d);
  const auto finished = std::ranges::count_if(
      d.runs, [](const RunRecord& run) { return run.state == RunState::finished; });
  std::string message =
      std::to_string(finished) + " of " + std::to_string(d.runs.size()) + " runs measured";
  d.campaign.stop_reason = to_string(finish.reason);
  message += left_out_text(d.campaign.spec);
  if (finish.reason != campaign::StopReason::max_runs) {
    message = d.campaign.stop_reason + ": " + message;
  }
  if (d.campaign.feeds_model) {
    d.campaign.state = CampaignState::fitting;
    d.campaign.message = message + "; fitting the model";
  } else {
    d.campaign.state = CampaignState::succeeded;
    d.campaign.message =
        message + (d.campaign.spec.model.empty() ? "; no model was asked for"
                                                 : "; none of the experiments feeds a model");
  }
  STRIPLINE_RETURN_IF_ERROR(commit(d, d.campaign.message));
  spdlog::info("{}: {}", campaign_name(finish.campaign), d.campaign.message);
  release_group(finish.campaign, "the campaign's budget is used up");
  forget(finish.campaign);
  if (d.campaign.state == CampaignState::fitting) {
    to_fit_.push_back(finish.campaign);
    fitter_wakes_.notify_all();
  }
  return {};
}

// `actor` is the user who asked for it, if one did.
Status Coordinator::end_campaign(int64_t number, CampaignState state, const std::string& message,
                                 const std::string& actor) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft(number));
  if (!actor.empty()) {
    d.changes.audit.push_back({0, unix_seconds(), actor, "cancel campaign", campaign_name(number)});
  }
  close_open_runs(d);
  d.campaign.state = state;
  d.campaign.message = message;
  if (state == CampaignState::cancelled && d.campaign.stop_reason.empty()) {
    d.campaign.stop_reason = to_string(campaign::StopReason::cancelled);
  }
  STRIPLINE_RETURN_IF_ERROR(commit(d, message));
  if (state == CampaignState::failed) meters_.count(Meters::Counter::campaigns_failed);
  spdlog::info("{}: {}: {}", campaign_name(number), to_string(state), message);
  release_group(number, "the campaign ended: " + message);
  forget(number);
  return {};
}

Status Coordinator::note_waiting(const Wait& wait) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft(wait.campaign));
  if (d.campaign.message == wait.reason) return {};
  d.campaign.message = wait.reason;
  return commit(d, wait.reason);
}

}  // namespace stripline::server
