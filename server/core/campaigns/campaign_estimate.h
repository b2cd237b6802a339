// What a campaign would take, how surely it would know, and what speaks against it: derived from
// its plan before it starts. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/campaign/forecast.h"
#include "server/core/campaigns/campaign_planner.h"
#include "server/core/campaigns/scheduler.h"
#include "server/store/records.h"

namespace stripline::server {

/// See CampaignEstimate.Risk in campaigns.proto, whose kinds have these names.
enum class RiskKind {
  unknown_pace,
  no_result,
  provisional,
  slower,
  coarse_grid,
  wide,
  no_spare_node
};
std::string_view to_string(RiskKind kind);  ///< "UNKNOWN_PACE"

struct Risk {
  RiskKind kind = RiskKind::unknown_pace;
  std::string message;
};

/// Pairs of nodes that are so far from each other.
struct SampledPairs {
  uint32_t distance = 0;  ///< campaign::NetworkPlaces::distance()
  uint64_t pairs = 0;     ///< That there are.
  uint32_t runs = 0;      ///< That take one of them.
};

struct CampaignEstimate {
  CampaignSpec spec;
  uint32_t points = 0;  ///< In the whole plan.
  campaign::Forecast forecast;
  std::string based_on;  ///< The name of the campaign it is based on; empty: none.
  std::vector<Risk> risks;
  std::vector<SampledPairs> pairs;  ///< In order of distance; none unless runs take two nodes.
};

/// What is known from an earlier campaign like it.
struct EarlierCampaign {
  std::string name;
  campaign::Pace pace;
  std::optional<campaign::EarlierWidth> width;
};

/// It asks for the same measurements in the same surroundings, if perhaps for another number of
/// runs or another budget.
bool is_like(const CampaignSpec& one, const CampaignSpec& other);

/// Nullopt if none of its runs has finished.
std::optional<EarlierCampaign> learnt_from(const CampaignRecord& record,
                                           const std::vector<RunRecord>& runs);

/// `fresh`: the planned campaign before its first run.
CampaignEstimate estimate_of(const CampaignPlan& plan, const CampaignSnapshot& fresh,
                             const std::optional<EarlierCampaign>& earlier);

}  // namespace stripline::server
