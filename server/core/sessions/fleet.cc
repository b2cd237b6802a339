#include "server/core/sessions/fleet.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <spdlog/spdlog.h>

#include "server/clock.h"

namespace stripline::server {
namespace {

constexpr size_t kMaxHoldReasonBytes = 1000;

}  // namespace

Status Fleet::recover() {
  STRIPLINE_ASSIGN_OR_RETURN(const auto holds, state_.store.node_holds());
  const MutexLock lock(state_.mutex);
  for (const NodeHold& hold : holds) state_.holds[hold.node] = hold;
  return {};
}

NodeView Fleet::view_of(NodeRecord record) {
  NodeView view;
  const Session* const session = state_.sessions.of_node(record.name);
  view.connected = session != nullptr;
  // It is stored as a session begins, and again as it ends.
  view.since_unix_s = record.last_seen_unix_s;
  const auto hold = state_.holds.find(record.name);
  if (hold != state_.holds.end()) view.hold = hold->second;
  if (session != nullptr) {
    record.last_seen_unix_s = session->record.last_seen_unix_s;
    view.installing = session->installing;
    if (session->holding) view.assignment = run_name(session->holding->run);
  }
  view.quarantine = state_.health.quarantine(record.name, steady_seconds());
  view.models = models_.models_of(record);
  view.record = std::move(record);
  return view;
}

Answer<std::vector<NodeView>> Fleet::nodes(const std::string& after, size_t limit) {
  STRIPLINE_ASSIGN_OR_RETURN(auto records, state_.store.nodes(after, limit));
  const MutexLock lock(state_.mutex);
  std::vector<NodeView> views;
  for (NodeRecord& record : records) views.push_back(view_of(std::move(record)));
  return views;
}

Answer<NodeView> Fleet::node(const std::string& name) {
  // It may have come just now, and be stored in a moment: looked for here first, it is found in one
  // of the two.
  const auto unsaved = [&]() -> std::optional<NodeRecord> {
    const MutexLock lock(state_.mutex);
    const auto found = state_.unsaved_nodes.find(name);
    if (found == state_.unsaved_nodes.end()) return std::nullopt;
    return found->second;
  }();
  Result<std::optional<NodeRecord>> record = unsaved;
  if (!unsaved) record = state_.store.node(name);
  if (!record.ok()) return record.error();
  if (!*record) {
    return Problem{ErrorCode::not_found,
                   "NODE_NOT_FOUND",
                   "no agent has ever connected as '" + node_name(name) +
                       "'; 'stripline nodes' lists those that have",
                   {{"name", node_name(name)}}};
  }
  const MutexLock lock(state_.mutex);
  return view_of(std::move(**record));
}

// One that is not known is left alone.
Status Fleet::hold_if_known(const NodeHold& hold) {
  {
    const MutexLock lock(state_.mutex);
    STRIPLINE_ASSIGN_OR_RETURN(const auto known, state_.store.node(hold.node));
    if (!known && !state_.unsaved_nodes.contains(hold.node)) return {};
    const std::string action = hold.deadline_unix_s == 0 ? "cordon node" : "drain node";
    Changes changes;
    changes.holds.push_back(hold);
    changes.audit.push_back(
        {0, unix_seconds(), hold.actor, action + reason_text(hold), node_name(hold.node)});
    STRIPLINE_RETURN_IF_ERROR(state_.store.apply(changes));
    state_.holds[hold.node] = hold;
    spdlog::info("{} gets no new runs{}", node_name(hold.node), reason_text(hold));
  }
  steps_.step();
  return {};
}

Answer<NodeView> Fleet::hold_node(const NodeHold& hold) {
  if (hold.reason.size() > kMaxHoldReasonBytes) {
    return invalid_field("reason", "at most " + std::to_string(kMaxHoldReasonBytes) + " bytes");
  }
  if (const Status held = hold_if_known(hold); !held.ok()) return held.error();
  return node(hold.node);
}

Answer<NodeView> Fleet::release_node(const std::string& name, const std::string& actor) {
  bool released = false;
  {
    const MutexLock lock(state_.mutex);
    if (state_.holds.contains(name)) {
      Changes changes;
      changes.released_nodes.push_back(name);
      changes.audit.push_back({0, unix_seconds(), actor, "uncordon node", node_name(name)});
      if (const Status stored = state_.store.apply(changes); !stored.ok()) return stored.error();
      state_.holds.erase(name);
      spdlog::info("{} gets runs again", node_name(name));
      released = true;
    }
  }
  if (released) steps_.step();
  return node(name);
}

Answer<bool> Fleet::remove_node(const std::string& name, const std::string& actor) {
  STRIPLINE_RETURN_IF_ERROR(node(name));
  const MutexLock lock(state_.mutex);
  const bool works = std::ranges::any_of(
      state_.active, [&](const auto& entry) { return entry.second.group.has_node(name); });
  if (works || state_.sessions.of_node(name) != nullptr) {
    return Problem{ErrorCode::failed_precondition,
                   "NODE_CONNECTED",
                   node_name(name) + (works ? " takes part in a run" : " is connected") +
                       "; stop its agent first, or shut it out with 'stripline node revoke'",
                   {{"node", node_name(name)}}};
  }
  Changes changes;
  changes.removed_nodes.push_back(name);
  changes.audit.push_back({0, unix_seconds(), actor, "remove node", node_name(name)});
  if (const Status stored = state_.store.apply(changes); !stored.ok()) return stored.error();
  state_.holds.erase(name);
  state_.unsaved_nodes.erase(name);
  models_.forget(name);
  return true;
}

}  // namespace stripline::server
