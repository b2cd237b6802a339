// The coordinator's side of what operators do with the fleet.
#include <algorithm>
#include <set>
#include <string>

#include <spdlog/spdlog.h>

#include "server/clock.h"
#include "server/core/coordinator.h"

namespace stripline::server {
namespace {

constexpr size_t kMaxHoldReasonBytes = 1000;

std::string why(const NodeHold& hold) { return hold.reason.empty() ? "" : ": " + hold.reason; }

}  // namespace

void Coordinator::drain() {
  const MutexLock lock(mutex_);
  draining_ = true;
}

bool Coordinator::idle() {
  const MutexLock lock(mutex_);
  return active_.empty();
}

void Coordinator::measure() {
  const MutexLock lock(mutex_);
  const auto set = [&](Meters::Gauge gauge, size_t value) {
    meters_.set(gauge, static_cast<double>(value));
  };
  set(Meters::Gauge::sessions, sessions_.size());
  set(Meters::Gauge::nodes_held, holds_.size());
  set(Meters::Gauge::runs_active, active_.size());
  set(Meters::Gauge::campaigns_open, open_.size());
  set(Meters::Gauge::fits_waiting, to_fit_.size());
  std::set<std::string> stale;  // two labels may name the same version
  for (const LabelledVersion& version : known_.labelled) {
    if (!version.is_fit) stale.insert(version_name(version.key));
  }
  set(Meters::Gauge::models_stale, stale.size());
  set(Meters::Gauge::models_unreadable, known_.unreadable.size());
}

Status Coordinator::recover_holds() {
  const MutexLock lock(mutex_);
  STRIPLINE_ASSIGN_OR_RETURN(const auto holds, store_.node_holds());
  for (const NodeHold& hold : holds) holds_[hold.node] = hold;
  return {};
}

// "cordoned: new NIC"; empty: nothing keeps it from runs.
std::string Coordinator::hold_on(const std::string& node) const {
  const auto hold = holds_.find(node);
  return hold == holds_.end() ? "" : "cordoned" + why(hold->second);
}

Answer<NodeView> Coordinator::hold_node(const NodeHold& hold) {
  if (hold.reason.size() > kMaxHoldReasonBytes) {
    return invalid_field("reason", "at most " + std::to_string(kMaxHoldReasonBytes) + " bytes");
  }
  {
    const MutexLock lock(mutex_);
    const auto known = store_.node(hold.node);
    if (!known.ok()) return known.error();
    if (*known || unsaved_nodes_.contains(hold.node)) {
      const std::string action = hold.deadline_unix_s == 0 ? "cordon node" : "drain node";
      Changes changes;
      changes.holds.push_back(hold);
      changes.audit.push_back(
          {0, unix_seconds(), hold.actor, action + why(hold), node_name(hold.node)});
      if (const Status stored = store_.apply(changes); !stored.ok()) return stored.error();
      holds_[hold.node] = hold;
      spdlog::info("{} gets no new runs{}", node_name(hold.node), why(hold));
      step();
    }
  }
  return node(hold.node);
}

Answer<NodeView> Coordinator::release_node(const std::string& name, const std::string& actor) {
  {
    const MutexLock lock(mutex_);
    if (holds_.contains(name)) {
      Changes changes;
      changes.released_nodes.push_back(name);
      changes.audit.push_back({0, unix_seconds(), actor, "uncordon node", node_name(name)});
      if (const Status stored = store_.apply(changes); !stored.ok()) return stored.error();
      holds_.erase(name);
      spdlog::info("{} gets runs again", node_name(name));
      step();
    }
  }
  return node(name);
}

Answer<bool> Coordinator::remove_node(const std::string& name, const std::string& actor) {
  const auto known = node(name);
  if (!known) return known.problem();
  const MutexLock lock(mutex_);
  const bool works = std::ranges::any_of(
      active_, [&](const auto& entry) { return entry.second.group.has_node(name); });
  if (works || session_of_node(name) != sessions_.end()) {
    return Problem{ErrorCode::failed_precondition,
                   "NODE_CONNECTED",
                   node_name(name) + (works ? " takes part in a run" : " is connected") +
                       "; stop its agent first, or shut it out with 'stripline node revoke'",
                   {{"node", node_name(name)}}};
  }
  Changes changes;
  changes.removed_nodes.push_back(name);
  changes.audit.push_back({0, unix_seconds(), actor, "remove node", node_name(name)});
  if (const Status stored = store_.apply(changes); !stored.ok()) return stored.error();
  holds_.erase(name);
  unsaved_nodes_.erase(name);
  std::erase_if(model_answers_, [&](const auto& answer) { return answer.first.first == name; });
  return true;
}

// When the next drained node is to end what it works on.
std::optional<double> Coordinator::next_drain_s() const {
  std::optional<double> next;
  for (const auto& [name, hold] : holds_) {
    if (hold.deadline_unix_s == 0) continue;
    const bool works = std::ranges::any_of(active_, [&, &node = name](const auto& entry) {
      return !entry.second.failure && entry.second.group.has_node(node);
    });
    const double due_s = steady_seconds() + hold.deadline_unix_s - unix_seconds();
    if (works) next = next ? std::min(*next, due_s) : due_s;
  }
  return next;
}

void Coordinator::end_drained_runs() {
  for (const auto& [name, hold] : holds_) {
    if (hold.deadline_unix_s == 0 || unix_seconds() < hold.deadline_unix_s) continue;
    for (auto& [campaign, active] : active_) {
      if (!active.group.has_node(name)) continue;
      fail(active, {node_name(name) + " is drained" + why(hold), false, std::nullopt, true});
    }
  }
}

}  // namespace stripline::server
