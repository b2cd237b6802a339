// A campaign as users see it: the record with its progress, as a value that events store. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "server/store/records.h"

namespace stripline::server {

/// See Campaign in campaigns.proto.
struct CampaignView {
  std::string name;  ///< Empty for a plan that was only validated.
  CampaignSpec spec;
  CampaignState state = CampaignState::queued;
  std::string message;
  double created_unix_s = 0;
  double updated_unix_s = 0;
  uint32_t points_done = 0;
  uint32_t points_total = 0;
  uint32_t runs_done = 0;
  uint32_t runs_total = 0;
  double seconds_left = -1;
  double advised_budget_s = 0;  ///< A time budget that would do; 0: its own will.
  std::string model_version;
  uint64_t samples = 0;
  std::string stop_reason;
  double width = 0;
  double node_s = 0;
  uint32_t retries = 0;
  std::string owner;
  std::vector<std::string> labels = {};
};

/// `active_s`: for how long the active run, if there is one, has been going on.
CampaignView view_of(const CampaignRecord& campaign, const std::vector<RunRecord>& runs,
                     std::optional<double> active_s);

Json to_json(const CampaignView& view);
/// Errors: data_loss.
Result<CampaignView> campaign_view_from_json(const Json& json);

}  // namespace stripline::server
