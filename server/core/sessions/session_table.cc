#include "server/core/sessions/session_table.h"

#include <algorithm>
#include <utility>

#include "server/clock.h"

namespace stripline::server {

bool Session::holds(const RunKey& run, uint64_t fence) const {
  return holding && holding->run == run && holding->fence == fence;
}

void Session::send_cancel(const RunKey& run, uint64_t fence, const std::string& why,
                          double lease_s) {
  const bool same = holds(run, fence);
  if (same && holding->cancel_deadline_s) return;  // It has been notified.
  if (!holding || same) holding = Holding{run, fence, steady_seconds() + lease_s};
  link->send(CancelAssignment{{run_name(run), fence}, why});
}

void Session::send_ready(ActiveRun& active) const {
  const RunGroup& group = active.group;
  if (!active.addresses) {
    active.addresses = std::make_shared<const std::vector<std::string>>(group.addresses());
  }
  link->send(GroupReady{{run_name(group.run()), group.fence()}, active.addresses});
}

Session& SessionTable::add(Session session) {
  session.id = next_id_++;
  ids_[session.record.name] = session.id;
  const uint64_t id = session.id;
  return sessions_.emplace(id, std::move(session)).first->second;
}

void SessionTable::erase(uint64_t id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  ids_.erase(found->second.record.name);
  sessions_.erase(found);
}

void SessionTable::clear() {
  sessions_.clear();
  ids_.clear();
}

Session* SessionTable::find(uint64_t id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

Session* SessionTable::heard(uint64_t id) {
  Session* const session = find(id);
  if (session == nullptr) return nullptr;
  session->last_heard_s = steady_seconds();
  session->record.last_seen_unix_s = unix_seconds();
  return session;
}

Session* SessionTable::of_node(const std::string& node) {
  const auto found = ids_.find(node);
  return found == ids_.end() ? nullptr : find(found->second);
}

void SessionTable::await_hello(const std::shared_ptr<AgentLink>& link, double deadline_s) {
  pending_.push_back({link, deadline_s});
}

void SessionTable::has_said_hello(const std::shared_ptr<AgentLink>& link) {
  std::erase_if(pending_, [&](const PendingStream& stream) { return stream.link.lock() == link; });
}

std::vector<std::shared_ptr<AgentLink>> SessionTable::late_streams(double now_s) {
  std::vector<std::shared_ptr<AgentLink>> late;
  for (; !pending_.empty() && now_s >= pending_.front().deadline_s; pending_.pop_front()) {
    if (auto link = pending_.front().link.lock()) late.push_back(std::move(link));
  }
  return late;
}

std::optional<double> SessionTable::next_deadline_s(double silent_s) const {
  std::optional<double> next;
  const auto consider = [&](double time_s) { next = next ? std::min(*next, time_s) : time_s; };
  for (const auto& [id, session] : sessions_) {
    consider(session.last_heard_s + silent_s);
    if (session.holding && session.holding->cancel_deadline_s) {
      consider(*session.holding->cancel_deadline_s);
    }
  }
  if (!pending_.empty()) consider(pending_.front().deadline_s);
  return next;
}

void SessionTable::postpone(double longer_s) {
  for (auto& [id, session] : sessions_) {
    session.last_heard_s += longer_s;
    if (session.holding && session.holding->cancel_deadline_s) {
      *session.holding->cancel_deadline_s += longer_s;
    }
  }
  for (PendingStream& stream : pending_) stream.deadline_s += longer_s;
}

}  // namespace stripline::server
