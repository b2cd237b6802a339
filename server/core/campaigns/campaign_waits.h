// What campaigns wait for, since when and until when: for nodes, for quiet hosts, after a failure.
// Pure: the time is given. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "server/core/campaigns/open_campaign.h"
#include "server/store/records.h"

namespace stripline::server {

class CampaignWaits {
 public:
  /// It lacks nodes; `for_quiet`: none but quiet hosts.
  void lacks_nodes(int64_t campaign, bool for_quiet, double now_s);
  /// It waits for nodes no more.
  void stop_waiting(int64_t campaign, double now_s);
  /// No run of it is given out until then.
  void pause(int64_t campaign, double until_s) { paused_until_s_[campaign] = until_s; }
  /// How many attempts have failed while they measured an experiment, to be counted on.
  std::map<std::string, uint32_t>& failures_at(int64_t campaign) { return failures_at_[campaign]; }
  /// It has ended.
  void forget(int64_t campaign);

  bool is_paused(int64_t campaign, double now_s) const;
  /// It has waited for nodes for this long.
  bool is_overdue(int64_t campaign, double max_wait_s, double now_s) const;
  /// Some campaign waits for hosts to become quiet.
  bool any_for_quiet() const;
  /// How much longer the campaign waits for its hosts to become quiet.
  double patience_left_s(const CampaignRecord& campaign, double now_s) const;
  /// When one of these waits ends; nullopt: nothing waits.
  std::optional<double> next_end_s(const std::map<int64_t, OpenCampaign>& open, double max_wait_s,
                                   double now_s) const;

 private:
  struct QuietWait {
    std::optional<double> since_s;  // it does now
    double before_s = 0;            // it did earlier
  };
  void end_quiet_wait(int64_t campaign, double now_s);

  std::map<int64_t, double> waiting_since_s_;
  std::map<int64_t, QuietWait> quiet_waits_;
  std::map<int64_t, double> paused_until_s_;
  std::map<int64_t, std::map<std::string, uint32_t>> failures_at_;
};

}  // namespace stripline::server
