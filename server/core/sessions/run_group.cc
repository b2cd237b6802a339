#include "server/core/sessions/run_group.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/quantity.h"

namespace stripline::server {
RunGroup::RunGroup(const RunKey& run, uint64_t fence, std::vector<std::string> rank_nodes,
                   const Times& times, double now_s)
    : run_(run),
      fence_(fence),
      rank_nodes_(std::move(rank_nodes)),
      times_(times),
      started_s_(now_s),
      join_end_s_(now_s + times.join_timeout_s),
      addresses_(rank_nodes_.size()) {
  for (const std::string& node : rank_nodes_) {
    if (leases_.emplace(node, now_s + times_.lease_s).second) nodes_.push_back(node);
  }
}

std::vector<uint32_t> RunGroup::ranks_of(const std::string& node) const {
  std::vector<uint32_t> ranks;
  for (uint32_t rank = 0; rank < rank_nodes_.size(); ++rank) {
    if (rank_nodes_[rank] == node) ranks.push_back(rank);
  }
  return ranks;
}

void RunGroup::renew(const std::string& node, double now_s) {
  const auto found = leases_.find(node);
  if (found != leases_.end() && found->second) found->second = now_s + times_.lease_s;
}

bool RunGroup::join(const std::string& node, uint32_t rank, const std::string& address) {
  if (rank >= rank_nodes_.size() || rank_nodes_[rank] != node) return false;
  if (ready()) return true;
  if (!addresses_[rank]) ++joined_;
  addresses_[rank] = address;
  return true;
}

std::vector<std::string> RunGroup::addresses() const {
  std::vector<std::string> addresses;
  for (const auto& address : addresses_) addresses.push_back(*address);
  return addresses;
}

void RunGroup::postpone(double delay_s) {
  join_end_s_ += delay_s;
  for (auto& [node, end_s] : leases_) {
    if (end_s) *end_s += delay_s;
  }
}

void RunGroup::finish(const std::string& node) {
  const auto found = leases_.find(node);
  if (found != leases_.end()) found->second.reset();
}

bool RunGroup::all_finished() const {
  return std::ranges::none_of(leases_, [](const auto& entry) { return entry.second.has_value(); });
}

std::optional<std::string> RunGroup::lost(double now_s) const {
  for (const std::string& node : nodes_) {
    if (lease(node) && *lease(node) <= now_s) {
      return node_name(node) + " was not heard of for " + exact_seconds_text(times_.lease_s);
    }
  }
  if (ready() || now_s < join_end_s_) return std::nullopt;
  std::string missing;
  for (size_t rank = 0; rank < addresses_.size(); ++rank) {
    if (addresses_[rank]) continue;
    missing += (missing.empty() ? "" : ", ") + std::to_string(rank) + " on " +
               node_name(rank_nodes_[rank]);
  }
  return "not every rank joined within " + exact_seconds_text(times_.join_timeout_s) +
         ": missing " + missing;
}

std::optional<std::string> RunGroup::lost_at(double now_s) const {
  std::set<std::string> nodes;
  for (const std::string& node : nodes_) {
    if (lease(node) && *lease(node) <= now_s) return node;
  }
  if (ready() || now_s < join_end_s_) return std::nullopt;
  for (size_t rank = 0; rank < addresses_.size(); ++rank) {
    if (!addresses_[rank]) nodes.insert(rank_nodes_[rank]);
  }
  return nodes.size() == 1 ? std::optional(*nodes.begin()) : std::nullopt;
}

std::optional<double> RunGroup::next_deadline_s() const {
  std::optional<double> next;
  const auto consider = [&](double time_s) { next = next ? std::min(*next, time_s) : time_s; };
  for (const auto& [node, end_s] : leases_) {
    if (end_s) consider(*end_s);
  }
  if (!ready()) consider(join_end_s_);
  return next;
}

}  // namespace stripline::server
