#include "server/core/core_state.h"

#include "server/clock.h"

namespace stripline::server {
namespace {

constexpr double kSilentIntervals = 3;

}  // namespace

std::string reason_text(const NodeHold& hold) {
  return hold.reason.empty() ? "" : ": " + hold.reason;
}

double CoreState::silent_s() const { return kSilentIntervals * options.heartbeat_interval_s; }

void CoreState::want_step() {
  step_wanted = true;
  timer_wakes.notify_all();
}

void CoreState::change_deadline() {
  timer_changed = true;
  timer_wakes.notify_all();
}

void CoreState::report(const Status& status) {
  if (!status.ok()) storage.failed(status.error(), steady_seconds());
}

Status CoreState::save_nodes() {
  if (unsaved_nodes.empty()) return {};
  Changes changes;
  for (const auto& [name, record] : unsaved_nodes) changes.nodes.push_back(record);
  STRIPLINE_RETURN_IF_ERROR(store.apply(changes));
  unsaved_nodes.clear();
  return {};
}

Status CoreState::save_ends() {
  if (unsaved_ends.empty()) return {};
  Changes changes;
  changes.facts = unsaved_ends;
  STRIPLINE_RETURN_IF_ERROR(store.apply(changes));
  unsaved_ends.clear();
  return {};
}

void CoreState::drop_session(uint64_t id, const std::optional<Problem>& why) {
  Session* const session = sessions.find(id);
  if (session == nullptr) return;
  if (why) session->link->close(*why);
  unsaved_nodes[session->record.name] = session->record;
  sessions.erase(id);
}

ActiveRun* CoreState::active_run(const RunKey& run, uint64_t fence, const std::string& node) {
  const auto found = active.find(run.campaign);
  if (found == active.end()) return nullptr;
  const RunGroup& group = found->second.group;
  const bool valid = group.run() == run && group.fence() == fence && group.has_node(node);
  return valid ? &found->second : nullptr;
}

std::optional<double> CoreState::active_seconds(int64_t campaign) const {
  const auto found = active.find(campaign);
  if (found == active.end()) return std::nullopt;
  return found->second.measured_s(storage.since_s());
}

std::string CoreState::hold_on(const std::string& node) const {
  const auto hold = holds.find(node);
  return hold == holds.end() ? "" : "cordoned" + reason_text(hold->second);
}

}  // namespace stripline::server
