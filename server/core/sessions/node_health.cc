#include "server/core/sessions/node_health.h"

#include <algorithm>
#include <cmath>

#include "base/quantity.h"

namespace stripline::server {
namespace {

constexpr double kHalfLifeS = 600;
// A count that has faded so far says nothing any more.
constexpr double kForgotten = 0.1;
// Three failures in a row, the first of them faded a little.
constexpr double kTooMany = 2.5;
constexpr double kFirstQuarantineS = 60;
constexpr double kLongestQuarantineS = 3600;

double faded(double failures, double age_s) {
  const double left = failures * std::exp2(-age_s / kHalfLifeS);
  return left < kForgotten ? 0 : left;
}

}  // namespace

void NodeHealth::failed(int64_t campaign, const std::string& name, bool for_good,
                        const std::string& reason, double now_s) {
  Nodes& of_campaign = campaigns_[campaign];
  of_campaign.suspects.insert(name);
  if (for_good) of_campaign.unfit.insert(name);
  const double count = failures(name, now_s) + 1;
  Node& node = nodes_[name];
  node.failures = count;
  node.at_s = now_s;
  node.last_reason = reason;
  if (count < kTooMany) return;
  node.quarantine_s = std::clamp(2 * node.quarantine_s, kFirstQuarantineS, kLongestQuarantineS);
  node.released_s = now_s + node.quarantine_s;
}

void NodeHealth::succeeded(const std::string& name) {
  const auto found = nodes_.find(name);
  if (found != nodes_.end()) found->second = {.instance = found->second.instance};
}

void NodeHealth::connected(const std::string& name, const std::string& instance) {
  Node& node = nodes_[name];
  if (node.instance != instance) node = {.instance = instance};
}

void NodeHealth::forget(int64_t campaign) { campaigns_.erase(campaign); }

const NodeHealth::Nodes& NodeHealth::of(int64_t campaign) const {
  static const Nodes kNone;
  const auto found = campaigns_.find(campaign);
  return found == campaigns_.end() ? kNone : found->second;
}

const std::set<std::string>& NodeHealth::suspects(int64_t campaign) const {
  return of(campaign).suspects;
}

const std::set<std::string>& NodeHealth::unfit(int64_t campaign) const {
  return of(campaign).unfit;
}

double NodeHealth::failures(const std::string& name, double now_s) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? 0 : faded(found->second.failures, now_s - found->second.at_s);
}

std::string NodeHealth::quarantine(const std::string& name, double now_s) const {
  const auto found = nodes_.find(name);
  if (found == nodes_.end() || found->second.released_s <= now_s) return "";
  return "left out for " + exact_seconds_text(found->second.quarantine_s) +
         " after several failed runs, the last one: " + found->second.last_reason;
}

std::optional<double> NodeHealth::next_release_s(double now_s) const {
  std::optional<double> next;
  for (const auto& [name, node] : nodes_) {
    if (node.released_s > now_s) next = std::min(next.value_or(node.released_s), node.released_s);
  }
  return next;
}

}  // namespace stripline::server
