#include "server/core/fleet_history.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/util/time_util.h>

#include "server/clock.h"
#include "server/core/wire.h"
#include "server/store/names.h"

namespace stripline::server {
namespace {

constexpr double kUsualHistory_s = 6 * 3600;
constexpr double kLongestHistory_s = 14 * 86400;
// What an answer holds.
constexpr size_t kMaxPastRuns = 2000;
constexpr size_t kMaxNodeEvents = 2000;
// As messages: runs of many nodes, and long reasons, would make more than a client of gRPC takes.
constexpr size_t kMaxRunsBytes = size_t{2} << 20;
constexpr size_t kMaxEventsBytes = size_t{1} << 20;
constexpr size_t kHistoryPage = 1000;

struct HistoryRange {
  double from_unix_s = 0;
  double to_unix_s = 0;
  bool has(double unix_s) const { return unix_s >= from_unix_s && unix_s <= to_unix_s; }
};

Answer<double> asked_time(const std::string& text, double usual_unix_s, const char* field) {
  if (text.empty()) return usual_unix_s;
  google::protobuf::Timestamp time;
  if (!google::protobuf::util::TimeUtil::FromString(text, &time)) {
    return invalid_field(field, "'" + text + "' is not a time as in 2026-06-01T12:00:00Z");
  }
  return static_cast<double>(time.seconds()) + 1e-9 * time.nanos();
}

Answer<HistoryRange> asked_range(const v1::GetHistoryRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const double to, asked_time(request.to(), unix_seconds(), "to"));
  STRIPLINE_ASSIGN_OR_RETURN(const double from,
                             asked_time(request.from(), to - kUsualHistory_s, "from"));
  if (from >= to) {
    return invalid_field("from", rfc3339(from) + " is not before the end, " + rfc3339(to));
  }
  if (to - from > kLongestHistory_s) {
    return invalid_field("from", rfc3339(from) + " is more than two weeks before the end, " +
                                     rfc3339(to) + "; ask for one part after the other");
  }
  return HistoryRange{from, to};
}

v1::PastRun past_run(const AttemptRecord& attempt, const HistoryRange& range) {
  v1::PastRun run;
  run.set_name(run_name(attempt.run));
  for (const std::string& node : attempt.nodes) run.add_nodes(node_name(node));
  run.set_start_time(rfc3339(attempt.started_unix_s));
  run.set_outcome(v1::PastRun::IN_PROGRESS);
  if (!attempt.ended_unix_s || *attempt.ended_unix_s > range.to_unix_s) return run;
  run.set_end_time(rfc3339(*attempt.ended_unix_s));
  run.set_outcome(wire_named(v1::PastRun::Outcome_Parse, to_string(attempt.outcome)));
  run.set_message(attempt.reason);
  return run;
}

// True if there were more than an answer holds.
Result<bool> add_runs(Store& store, const HistoryRange& range, v1::FleetHistory& history) {
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto attempts,
      store.attempts_between(range.from_unix_s, range.to_unix_s, kMaxPastRuns + 1));
  std::vector<v1::PastRun> newest;  // first
  size_t bytes = 0;
  for (const AttemptRecord& attempt : attempts) {
    v1::PastRun run = past_run(attempt, range);
    bytes += run.ByteSizeLong();
    if (newest.size() == kMaxPastRuns || bytes > kMaxRunsBytes) break;
    newest.push_back(std::move(run));
  }
  const bool more = newest.size() < attempts.size();
  std::ranges::reverse(newest);
  for (v1::PastRun& run : newest) *history.add_runs() = std::move(run);
  return more;
}

v1::NodeEvent node_event(v1::NodeEvent::Kind kind, const std::string& node, double time_unix_s,
                         const std::string& message = "") {
  v1::NodeEvent event;
  event.set_kind(kind);
  event.set_node(node);
  event.set_time(rfc3339(time_unix_s));
  event.set_message(message);
  return event;
}

struct AuditedAction {
  std::string_view name;
  v1::NodeEvent::Kind kind;
  bool tells_actor;  ///< Nodes tell viewers who holds them, too.
};
constexpr std::array kAuditedActions = {
    AuditedAction{"enrol node", v1::NodeEvent::ENROLLED, false},
    AuditedAction{"renew certificate", v1::NodeEvent::CERTIFICATE_RENEWED, false},
    AuditedAction{"cordon node", v1::NodeEvent::CORDONED, true},
    AuditedAction{"drain node", v1::NodeEvent::DRAINED, true},
    AuditedAction{"uncordon node", v1::NodeEvent::UNCORDONED, true},
    AuditedAction{"revoke node", v1::NodeEvent::REVOKED, false},
    AuditedAction{"remove node", v1::NodeEvent::REMOVED, false},
};

// True if there were more than are read.
Result<bool> add_audited(Store& store, const HistoryRange& range,
                         std::vector<v1::NodeEvent>& events) {
  STRIPLINE_ASSIGN_OR_RETURN(
      auto records, store.audit_of_nodes(range.from_unix_s, range.to_unix_s, kMaxNodeEvents + 1));
  // Where times in milliseconds are equal, the order in which they were stored counts.
  std::ranges::reverse(records);
  for (const AuditRecord& record : records) {
    const auto* const known = std::ranges::find_if(kAuditedActions, [&](const auto& action) {
      return record.action.starts_with(action.name);
    });
    if (known == kAuditedActions.end()) continue;
    // A reason is behind the action (Fleet::hold_node).
    constexpr std::string_view kBeforeReason = ": ";
    const std::string_view rest = std::string_view(record.action).substr(known->name.size());
    v1::NodeEvent event = node_event(known->kind, record.object, record.time_unix_s);
    if (rest.starts_with(kBeforeReason)) {
      event.set_message(std::string(rest.substr(kBeforeReason.size())));
    }
    if (known->tells_actor) event.set_actor(record.actor);
    events.push_back(std::move(event));
  }
  return records.size() > kMaxNodeEvents;
}

std::optional<Problem> add_sessions(Fleet& fleet, const HistoryRange& range,
                                    std::vector<v1::NodeEvent>& events) {
  std::string after;
  while (true) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto nodes, fleet.nodes(after, kHistoryPage));
    for (const NodeView& node : nodes) {
      if (!range.has(node.since_unix_s)) continue;
      const auto kind = node.connected ? v1::NodeEvent::CONNECTED : v1::NodeEvent::LAST_HEARD;
      events.push_back(node_event(kind, node_name(node.record.name), node.since_unix_s));
    }
    if (nodes.size() < kHistoryPage) return std::nullopt;
    after = nodes.back().record.name;
  }
}

Status add_answers(Store& store, const HistoryRange& range, std::vector<v1::NodeEvent>& events) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto answers, store.node_models());
  for (const NodeModelRecord& answer : answers) {
    if (!range.has(answer.time_unix_s)) continue;
    const auto kind = answer.applied ? v1::NodeEvent::MODEL_APPLIED : v1::NodeEvent::MODEL_REJECTED;
    const std::string reason = answer.reason.empty() ? "" : ": " + answer.reason;
    events.push_back(node_event(kind, node_name(answer.node), answer.time_unix_s,
                                version_name(answer.key) + reason));
  }
  return {};
}

// Moves the newest of them, in order of their times: texts of one form, which sort as times do.
// True if that is not all.
bool take_newest(std::vector<v1::NodeEvent>& events, v1::FleetHistory& history) {
  std::ranges::stable_sort(events, {}, &v1::NodeEvent::time);
  size_t first = events.size();
  size_t bytes = 0;
  while (first > 0 && events.size() - first < kMaxNodeEvents) {
    bytes += events[first - 1].ByteSizeLong();
    if (bytes > kMaxEventsBytes) break;
    --first;
  }
  for (size_t i = first; i < events.size(); ++i) *history.add_events() = std::move(events[i]);
  return first > 0;
}

}  // namespace

Answer<v1::FleetHistory> get_history(Coordinator& coordinator, Store& store,
                                     const v1::GetHistoryRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto range, asked_range(request));
  v1::FleetHistory history;
  history.set_start_time(rfc3339(range.from_unix_s));
  history.set_end_time(rfc3339(range.to_unix_s));
  STRIPLINE_ASSIGN_OR_RETURN(const bool more_runs, add_runs(store, range, history));
  std::vector<v1::NodeEvent> events;
  STRIPLINE_ASSIGN_OR_RETURN(const bool more_audited, add_audited(store, range, events));
  if (auto problem = add_sessions(coordinator.fleet(), range, events)) return std::move(*problem);
  STRIPLINE_RETURN_IF_ERROR(add_answers(store, range, events));
  const bool more_events = take_newest(events, history);
  history.set_truncated(more_runs || more_audited || more_events);
  return history;
}

}  // namespace stripline::server
