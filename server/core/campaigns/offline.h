// Campaigns that are measured where this server is not reached: their plans as files, and what is
// stored of their results. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "optimizer/campaign/offline_results.h"
#include "optimizer/campaign/plan_bundle.h"
#include "optimizer/campaign/point_table.h"
#include "server/core/campaigns/campaign_planner.h"
#include "server/problem.h"
#include "server/store/records.h"
#include "server/store/store.h"

namespace stripline::server {

/// `first` is the first run's plan; `points` are the campaign's, without those that were added at
/// breaks.
campaign::PlanBundle bundle_of(const CampaignRecord& record, const campaign::Rule& rule,
                               experiment::Assignment first, std::vector<experiment::Point> points);

/// What a node offers that no agent of this server is on, as 'stripline-worker --describe' has
/// printed it there. Problems: INVALID_FIELD.
Answer<NodeOffer> offer_of_description(std::string_view description);

/// A campaign with all that is stored of it.
struct ImportedCampaign {
  CampaignRecord campaign;
  std::vector<RunRecord> runs;
  campaign::PointTable points;
  Changes changes;  ///< All but the records of the campaign and its runs.
};

/// A campaign of this number whose runs were measured under this fence. It goes on with its fit, if
/// a model is asked for. Problems: INVALID_FIELD for a plan that no server of this release makes;
/// TOO_FEW_RUNS.
Answer<ImportedCampaign> imported(const campaign::OfflineResults& results, int64_t number,
                                  uint64_t fence, double time_unix_s);

}  // namespace stripline::server
