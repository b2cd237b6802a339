// The points that a run of a campaign is to measure, and what becomes known of them with it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optimizer/campaign/point_table.h"
#include "server/core/campaigns/open_campaign.h"
#include "server/core/campaigns/scheduler.h"
#include "server/core/sessions/active_run.h"
#include "server/store/store.h"

namespace stripline::server {

/// What finished runs have said of the campaign's points. Errors: the store's; data_loss.
Result<std::shared_ptr<const campaign::PointTable>> read_points(Store& store,
                                                                const CampaignRecord& record,
                                                                const std::vector<RunRecord>& runs);

/// The active run has ended well, and its points are to be known better with it. Errors: as above.
Status add_results(Store& store, Draft& d, const ActiveRun& active);

/// The plan of the run that is given out: the stored one, or another that is stored with the draft.
/// Errors: the store's; data_loss.
Result<std::string> plan_run(Store& store, Draft& d, const PlaceRun& place);

}  // namespace stripline::server
