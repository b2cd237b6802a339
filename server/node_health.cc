#include "server/node_health.h"

#include <cmath>

namespace stripline::server {
namespace {

constexpr double kHalfLifeS = 600;
// A count that has faded so far says nothing any more.
constexpr double kForgotten = 0.1;

double faded(double failures, double age_s) {
  const double left = failures * std::exp2(-age_s / kHalfLifeS);
  return left < kForgotten ? 0 : left;
}

}  // namespace

void NodeHealth::failed(int64_t campaign, const std::string& node, bool for_good, double now_s) {
  Nodes& nodes = campaigns_[campaign];
  nodes.suspects.insert(node);
  if (for_good) nodes.unfit.insert(node);
  counts_[node] = {failures(node, now_s) + 1, now_s};
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

double NodeHealth::failures(const std::string& node, double now_s) const {
  const auto found = counts_.find(node);
  return found == counts_.end() ? 0 : faded(found->second.failures, now_s - found->second.at_s);
}

}  // namespace stripline::server
