#include "server/core/campaigns/campaign_waits.h"

#include <algorithm>

#include "server/store/campaign_spec.h"

namespace stripline::server {

void CampaignWaits::lacks_nodes(int64_t campaign, bool for_quiet, double now_s) {
  waiting_since_s_.try_emplace(campaign, now_s);
  if (!for_quiet) return end_quiet_wait(campaign, now_s);
  auto& since_s = quiet_waits_[campaign].since_s;
  if (!since_s) since_s = now_s;
}

void CampaignWaits::stop_waiting(int64_t campaign, double now_s) {
  waiting_since_s_.erase(campaign);
  end_quiet_wait(campaign, now_s);
}

// It does not wait for that any more, or not only.
void CampaignWaits::end_quiet_wait(int64_t campaign, double now_s) {
  const auto waits = quiet_waits_.find(campaign);
  if (waits == quiet_waits_.end() || !waits->second.since_s) return;
  waits->second.before_s += now_s - *waits->second.since_s;
  waits->second.since_s.reset();
}

void CampaignWaits::forget(int64_t campaign) {
  failures_at_.erase(campaign);
  paused_until_s_.erase(campaign);
  waiting_since_s_.erase(campaign);
  quiet_waits_.erase(campaign);
}

bool CampaignWaits::is_paused(int64_t campaign, double now_s) const {
  const auto pause = paused_until_s_.find(campaign);
  return pause != paused_until_s_.end() && now_s < pause->second;
}

bool CampaignWaits::is_overdue(int64_t campaign, double max_wait_s, double now_s) const {
  const auto waiting = waiting_since_s_.find(campaign);
  return waiting != waiting_since_s_.end() && now_s >= waiting->second + max_wait_s;
}

bool CampaignWaits::any_for_quiet() const {
  return std::ranges::any_of(quiet_waits_,
                             [](const auto& waits) { return waits.second.since_s.has_value(); });
}

double CampaignWaits::patience_left_s(const CampaignRecord& campaign, double now_s) const {
  double left_s = quiet_patience_s(campaign.spec);
  const auto waits = quiet_waits_.find(campaign.number);
  if (waits == quiet_waits_.end()) return left_s;
  left_s -= waits->second.before_s;
  if (waits->second.since_s) left_s -= now_s - *waits->second.since_s;
  return std::max(0.0, left_s);
}

std::optional<double> CampaignWaits::next_end_s(const std::map<int64_t, OpenCampaign>& open,
                                                double max_wait_s, double now_s) const {
  std::optional<double> next;
  const auto consider = [&](double time_s) { next = next ? std::min(*next, time_s) : time_s; };
  for (const auto& [campaign, until_s] : paused_until_s_) {
    if (until_s > now_s) consider(until_s);
  }
  for (const auto& [campaign, since_s] : waiting_since_s_) consider(since_s + max_wait_s);
  for (const auto& [campaign, waits] : quiet_waits_) {
    const auto found = open.find(campaign);
    if (!waits.since_s || found == open.end()) continue;
    consider(now_s + patience_left_s(found->second.campaign, now_s));
  }
  return next;
}

}  // namespace stripline::server
