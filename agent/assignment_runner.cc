#include "agent/assignment_runner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "agent/samples_line.h"
#include "base/json_channel.h"
#include "base/quantity.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/rank_environment.h"
#include "optimizer/experiment/tuning.h"

namespace stripline::agent {
namespace {

// Weights of failures: a rank that lost its peer says less than the peer's own end.
constexpr int kConsequence = 1;
constexpr int kCause = 2;
constexpr int kDeath = 3;

constexpr int kStartsPerTurn = 4;

constexpr double kCancelGrace_s = 0.7;  // from the cancel message to SIGKILL
// A worker that tunes ends the target's processes first, and what they leave.
constexpr double kTuneGrace_s = 2.5;
constexpr double kFailureSettle_s = 0.2;  // from the first failure to SIGKILL: its root cause shows
constexpr double kExitGrace_s = 5;        // from `left` to SIGKILL
constexpr double kJoinMargin_s = 3;       // beyond the server's join timeout, should it be gone
constexpr double kDeadlineMargin_s = 5;   // beyond the assignment's own deadline
constexpr size_t kBatchBytes = size_t{512} << 10;  // a batch is closed above this

std::string member(const Json& message, const char* key) {
  const auto it = message.find(key);
  return it != message.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::optional<uint32_t> count_member(const Json& message, const char* key) {
  const auto it = message.find(key);
  if (it == message.end() || !it->is_number_integer() || it->get<int64_t>() < 0) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(std::min<int64_t>(it->get<int64_t>(), UINT32_MAX));
}

// Fabrics whose ranks are reached by 127.0.0.1 alone, unless they are given an address
// (docs/fabrics.md).
bool takes_loopback(const std::string& fabric) {
  constexpr std::array<std::string_view, 4> kFabrics = {"tcp", "net", "udp", "sockets"};
  return std::ranges::find(kFabrics, fabric.substr(0, fabric.find(';'))) != kFabrics.end();
}

bool reaches_others(const std::string& address) {
  return !address.empty() && !address.starts_with("127.") && address != "::1";
}

// A worker's message without the name it has given itself; it knows its host but not its node.
std::string without_rank(const std::string& message, uint32_t rank) {
  const size_t colon = message.find(": ");
  const bool named = message.starts_with("rank " + std::to_string(rank) + " on ");
  return named && colon != std::string::npos ? message.substr(colon + 2) : message;
}

std::string ranks_text(const std::vector<uint32_t>& ranks) {
  std::string out;
  for (const uint32_t rank : ranks) out += (out.empty() ? "" : ", ") + std::to_string(rank);
  return out;
}

}  // namespace

AssignmentRunner::AssignmentRunner(Assignment assignment, std::string node, std::string address,
                                   size_t max_series_bytes)
    : assignment_(std::move(assignment)),
      node_(std::move(node)),
      address_(std::move(address)),
      max_series_bytes_(max_series_bytes) {}

std::string AssignmentRunner::rank_name(uint32_t rank) const {
  return "rank " + std::to_string(rank) + " on nodes/" + node_;
}

void AssignmentRunner::start(double now_s) {
  Result<Json> parsed =
      parse_json(*assignment_.assignment_json, "assignment " + assignment_.id.name);
  if (!parsed.ok()) return refuse(parsed.error());
  auto work = experiment::assignment_from_json(*parsed);
  if (!work.ok()) return refuse(work.error().with_context("the assignment cannot be read"));
  work_json_ = std::move(*parsed);
  work_ = std::move(*work);
  deadline_s_ = now_s + assignment_.join_timeout_s + kJoinMargin_s;
  for (const uint32_t rank : assignment_.ranks) ranks_[rank];
  unstarted_.assign(assignment_.ranks.begin(), assignment_.ranks.end());
  send_update(AssignmentUpdate::State::running, "", "");
  start_some();
}

void AssignmentRunner::refuse(const Error& why) {
  finish(AssignmentUpdate::State::failed, why.code(), why.message());
}

// Few at a time: between two calls the agent beats, and hears of failures and of cancelling.
void AssignmentRunner::start_some() {
  for (int turn = 0; turn < kStartsPerTurn && may_start(); ++turn) {
    const uint32_t rank = unstarted_.front();
    unstarted_.pop_front();
    ranks_[rank].alive = true;
    actions_.emplace_back(StartWorker{rank, environment_of(rank)});
  }
}

std::map<std::string, std::string> AssignmentRunner::environment_of(uint32_t rank) const {
  auto environment = experiment::rank_environment(work_);
  environment["STRIPLINE_RANK"] = std::to_string(rank);
  environment["STRIPLINE_RANKS"] = std::to_string(work_.ranks);
  environment["STRIPLINE_JOB_ID"] = assignment_.job_id;
  environment["STRIPLINE_CONTROL_FD"] = "3";
  const bool across_nodes = std::ranges::any_of(
      assignment_.rank_nodes, [&](const std::string& node) { return node != node_; });
  if (across_nodes && takes_loopback(work_.fabric) && reaches_others(address_)) {
    environment["STRIPLINE_ADDRESS"] = address_;
  }
  return environment;
}

uint32_t AssignmentRunner::starting() const {
  return static_cast<uint32_t>(std::ranges::count_if(
      ranks_, [](const auto& entry) { return entry.second.alive && !entry.second.joined; }));
}

bool AssignmentRunner::tunes() const { return !experiment::tuned_target(work_.fabric).empty(); }

void AssignmentRunner::on_start_failed(double now_s, uint32_t rank, const Error& error) {
  ranks_[rank].alive = false;
  fail(now_s, {kDeath, error.code(), rank_name(rank) + " could not start: " + error.message()});
}

void AssignmentRunner::on_worker_line(double now_s, uint32_t rank, std::string_view line) {
  if (done() || !ranks_.contains(rank)) return;
  const auto samples = series_of_line(line);
  if (!samples) {
    const auto message = JsonChannel::message_of(line);
    return message.ok() ? on_worker_message(now_s, rank, *message)
                        : on_worker_garbage(now_s, rank, message.error());
  }
  if (rank != 0) return;
  for (const std::string_view series : *samples) {
    if (series.size() > max_series_bytes_) {
      return fail(now_s, {kCause, ErrorCode::resource_exhausted,
                          rank_name(rank) + ": the samples of one point take " +
                              std::to_string(series.size()) +
                              " bytes, more than can be sent; repeat it less often"});
    }
    add_series(series);
  }
  waits_for_answer_ = true;
}

void AssignmentRunner::on_worker_message(double now_s, uint32_t rank, const Json& message) {
  if (done() || !ranks_.contains(rank)) return;
  Rank& sender = ranks_[rank];
  const std::string type = member(message, "type");
  if (type == "join") {
    if (sender.joined) return;
    sender.joined = true;
    sender.address = member(message, "address");
    send(GroupJoin{assignment_.id, rank, sender.address});
  } else if (type == "facts") {
    const auto facts = message.find("facts");
    if (!facts_.empty() || facts == message.end() || !facts->is_object()) return;
    for (const auto& [field, value] : facts->items()) {
      if (value.is_string()) facts_[field] = value.get<std::string>();
    }
    if (!done()) send_update(AssignmentUpdate::State::running, "", "");
  } else if (type == "progress") {
    if (const auto count = count_member(message, "done")) points_done_ = *count;
    if (const auto count = count_member(message, "total")) points_total_ = *count;
  } else if (type == "note") {
    if (phase_ != Phase::working) return;
    send_update(AssignmentUpdate::State::running, "", member(message, "message"));
  } else if (type == "failed") {
    if (phase_ == Phase::cancelling) return;
    const ErrorCode code =
        error_code_from_string(member(message, "code")).value_or(ErrorCode::internal);
    const bool consequence = code == ErrorCode::unavailable || code == ErrorCode::aborted;
    Failure failure{consequence ? kConsequence : kCause, code,
                    rank_name(rank) + ": " + without_rank(member(message, "message"), rank)};
    if (const auto point = consequence ? std::nullopt : point_at(sender.begun)) {
      failure.message += ", while it measured " + experiment::point_key(*point);
      failure.experiment = point->experiment;
    }
    fail(now_s, std::move(failure));
  } else if (type == "left") {
    sender.left = true;
    sender.kill_at_s = now_s + kExitGrace_s;
  }
  // Messages of a newer worker that this agent does not know are not its business.
}

void AssignmentRunner::on_worker_garbage(double now_s, uint32_t rank, const Error& error) {
  if (done() || phase_ == Phase::cancelling) return;
  fail(now_s, {kCause, error.code(), rank_name(rank) + ": " + error.message()});
}

void AssignmentRunner::on_worker_exit(double now_s, uint32_t rank, const ExitStatus& status) {
  const auto it = ranks_.find(rank);
  if (it == ranks_.end() || !it->second.alive) return;
  it->second.alive = false;
  it->second.kill_at_s.reset();
  const bool good_end = (it->second.left && ready_sent_) || it->second.killed;
  if (!good_end) {
    const bool died = status.signal != 0;
    Failure failure{died ? kDeath : kConsequence, ErrorCode::aborted,
                    rank_name(rank) + " " + status.describe() +
                        (died ? "" : " before the run was over; see the agent's log")};
    if (const auto point = died ? point_at(it->second.begun) : std::nullopt) {
      failure.message += " while it measured " + experiment::point_key(*point);
      failure.experiment = point->experiment;
    }
    fail(now_s, std::move(failure));
  }
  settle();
}

void AssignmentRunner::on_begun(uint32_t rank, uint64_t begun) {
  if (const auto it = ranks_.find(rank); it != ranks_.end()) it->second.begun = begun;
}

std::optional<experiment::Point> AssignmentRunner::point_at(uint64_t begun) const {
  return watch_ ? watch_->point_at(begun) : std::nullopt;
}

void AssignmentRunner::on_look(double now_s, const std::vector<experiment::Sight>& sights) {
  wants_look_ = false;
  if (phase_ != Phase::working || sights.empty()) return;
  for (const experiment::Sight& sight : sights) on_begun(sight.rank, sight.begun);
  experiment::PointNews news = watch_->look(now_s, sights);
  if (news.ends_run) {
    fail(now_s, {kCause, ErrorCode::deadline_exceeded, std::move(news.message),
                 std::move(news.experiment)});
  } else if (!news.message.empty()) {
    send_update(AssignmentUpdate::State::running, "", std::move(news.message));
  }
}

void AssignmentRunner::on_group_ready(double now_s, const std::vector<std::string>& addresses) {
  if (phase_ != Phase::joining || ready_sent_) return;
  if (addresses.size() != work_.ranks) {
    fail(now_s, {kCause, ErrorCode::data_loss,
                 "the server announced a group of " + std::to_string(addresses.size()) +
                     " ranks for a job of " + std::to_string(work_.ranks)});
    return;
  }
  ready_sent_ = true;
  phase_ = Phase::working;
  deadline_s_ = now_s + work_.deadline_s + kDeadlineMargin_s;
  next_look_s_ = now_s + experiment::PointWatch::kLook_s;
  watch_.emplace(work_, " on nodes/" + node_, now_s);
  tell_all({{"type", "ready"}, {"addresses", addresses}});
  tell_all({{"type", "work"}, {"assignment", work_json_}, {"answers", true}});
}

void AssignmentRunner::on_ack(uint64_t seq) {
  while (!batches_.empty() && batches_.front().seq <= seq) batches_.pop_front();
  if (phase_ == Phase::draining && batches_.empty()) {
    finish(AssignmentUpdate::State::finished, ErrorCode::internal, "");
  }
}

void AssignmentRunner::on_cancel(double now_s, const std::string& message) {
  cancel_message_ = message;
  if (phase_ == Phase::joining || phase_ == Phase::working) {
    begin_ending(now_s, Phase::cancelling, kCancelGrace_s,
                 ready_sent_
                     ? Json{{"type", "cancel"}}
                     : Json{{"type", "abort"}, {"code", "cancelled"}, {"message", message}});
    settle();
  } else if (phase_ == Phase::draining) {
    finish(AssignmentUpdate::State::cancelled, ErrorCode::cancelled, message);
  }
}

void AssignmentRunner::on_agent_stop(double now_s, const std::string& why) {
  agent_stop_ = why;
  on_cancel(now_s, why);
}

void AssignmentRunner::on_reconnected() {
  if (done()) {
    send(outcome_);
    return;
  }
  send_update(AssignmentUpdate::State::running, "", "");
  if (phase_ == Phase::joining) {
    for (const auto& [rank, state] : ranks_) {
      if (state.joined) send(GroupJoin{assignment_.id, rank, state.address});
    }
  }
  for (const SampleBatch& batch : batches_) send(batch);
}

void AssignmentRunner::flush() {
  if (!batch_.empty()) send_batch();
  if (std::exchange(waits_for_answer_, false)) {
    actions_.emplace_back(TellWorker{0, {{"type", "taken"}}});
  }
}

void AssignmentRunner::send_batch() {
  batch_ += batch_.empty() ? "[]" : "]";
  points_reported_ = points_done_;
  batches_.push_back({assignment_.id, ++last_seq_,
                      std::make_shared<const std::string>(std::move(batch_)), points_done_,
                      points_total_});
  batch_.clear();
  send(batches_.back());
}

void AssignmentRunner::on_time(double now_s) {
  if (done()) return;
  start_some();
  if (next_look_s_ && now_s >= *next_look_s_) {
    wants_look_ = true;
    next_look_s_ = now_s + experiment::PointWatch::kLook_s;
  }
  for (auto& [rank, state] : ranks_) {
    if (state.alive && state.kill_at_s && now_s >= *state.kill_at_s) {
      state.kill_at_s.reset();
      state.killed = true;
      actions_.emplace_back(KillWorker{rank});
    }
  }
  if (deadline_s_ && now_s >= *deadline_s_) {
    deadline_s_.reset();
    std::string message;
    if (watch_) {
      message = "the run on nodes/" + node_ + " was not over " +
                exact_seconds_text(work_.deadline_s) + " after its start; " +
                watch_->advice(now_s, work_.deadline_s);
    } else {
      std::vector<uint32_t> missing;
      for (const auto& [rank, state] : ranks_) {
        if (!state.joined) missing.push_back(rank);
      }
      message = "the group was not complete in time; " +
                (missing.empty()
                     ? "all ranks of nodes/" + node_ + " had joined"
                     : "of nodes/" + node_ + " these had not joined: rank " + ranks_text(missing));
    }
    fail(now_s, {kCause, ErrorCode::deadline_exceeded, message});
  }
}

std::optional<double> AssignmentRunner::next_event_s() const {
  if (done()) return std::nullopt;
  if (may_start()) return 0;  // at once
  std::optional<double> next = deadline_s_;
  if (next_look_s_ && (!next || *next_look_s_ < *next)) next = next_look_s_;
  for (const auto& [rank, state] : ranks_) {
    if (state.alive && state.kill_at_s && (!next || *state.kill_at_s < *next)) {
      next = state.kill_at_s;
    }
  }
  return next;
}

std::vector<Action> AssignmentRunner::take_actions() { return std::exchange(actions_, {}); }

void AssignmentRunner::fail(double now_s, Failure failure) {
  if (done() || phase_ == Phase::cancelling || phase_ == Phase::draining) return;
  const bool first = !failure_;
  const std::string message = failure.message;
  if (first || failure.weight > failure_->weight) failure_ = std::move(failure);
  if (first) {
    begin_ending(now_s, Phase::failing, kFailureSettle_s,
                 {{"type", "abort"}, {"code", "aborted"}, {"message", message}});
  }
  settle();
}

void AssignmentRunner::begin_ending(double now_s, Phase phase, double grace_s,
                                    const Json& farewell) {
  if (tunes()) grace_s = std::max(grace_s, kTuneGrace_s);
  phase_ = phase;
  deadline_s_.reset();
  next_look_s_.reset();
  unstarted_.clear();
  tell_all(farewell);
  for (auto& [rank, state] : ranks_) {
    if (state.alive) state.kill_at_s = now_s + grace_s;
  }
}

// Moves on once no worker is left.
void AssignmentRunner::settle() {
  if (done() || any_alive() || !unstarted_.empty()) return;
  switch (phase_) {
    case Phase::joining:
    case Phase::working:
      // The last progress may have come after the last samples had gone.
      if (!batch_.empty() || points_reported_ != points_done_) send_batch();
      deadline_s_.reset();
      next_look_s_.reset();
      phase_ = Phase::draining;
      if (batches_.empty()) finish(AssignmentUpdate::State::finished, ErrorCode::internal, "");
      return;
    case Phase::cancelling:
      flush();
      if (agent_stop_) {
        finish(AssignmentUpdate::State::failed, ErrorCode::unavailable, *agent_stop_);
      } else {
        finish(AssignmentUpdate::State::cancelled, ErrorCode::cancelled, cancel_message_);
      }
      return;
    case Phase::failing:
      flush();
      finish(AssignmentUpdate::State::failed, failure_->code, failure_->message,
             failure_->experiment);
      return;
    case Phase::draining:
    case Phase::done:
      return;
  }
}

void AssignmentRunner::finish(AssignmentUpdate::State state, ErrorCode code,
                              const std::string& message, std::string experiment) {
  phase_ = Phase::done;
  const bool failed = state == AssignmentUpdate::State::failed;
  send_update(state, failed ? std::string(to_string(code)) : std::string(), message,
              std::move(experiment));
}

void AssignmentRunner::send_update(AssignmentUpdate::State state, std::string code,
                                   std::string message, std::string experiment) {
  outcome_ = {assignment_.id,     state,  std::move(code),
              std::move(message), facts_, std::move(experiment)};
  send(outcome_);
}

void AssignmentRunner::add_series(std::string_view series) {
  if (!batch_.empty() && batch_.size() + series.size() > kBatchBytes) flush();
  batch_ += batch_.empty() ? '[' : ',';
  batch_ += series;
}

void AssignmentRunner::tell_all(const Json& message) {
  for (const auto& [rank, state] : ranks_) {
    if (state.alive) actions_.emplace_back(TellWorker{rank, message});
  }
}

bool AssignmentRunner::any_alive() const {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [](const auto& entry) { return entry.second.alive; });
}

}  // namespace stripline::agent
