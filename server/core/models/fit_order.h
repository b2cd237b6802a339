// A model that is to be fitted to what several campaigns have measured. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "server/problem.h"
#include "server/store/campaign_spec.h"
#include "server/store/names.h"
#include "server/store/records.h"

namespace stripline::server {

struct FitOrder {
  std::string model;  ///< Without "models/".
  std::vector<int64_t> campaigns;
  std::vector<RunKey> without;  ///< Runs of them that are left out.
};

Json to_json(const FitOrder& order);
/// Errors: data_loss.
Result<FitOrder> fit_order_from_json(const Json& json);

/// A campaign of an order, as it is stored.
struct FittedCampaign {
  CampaignRecord campaign;
  std::vector<RunRecord> runs;
};

/// The points of a run's plan, of the campaign where they are most.
uint32_t planned_points(const std::vector<FittedCampaign>& parts);

/// The runs that are fitted: those that have finished and are not left out, in the order's order.
std::vector<RunKey> fitted_runs(const FitOrder& order, const std::vector<FittedCampaign>& parts);

/// What the campaigns were asked for together. Problems: INVALID_FIELD where there is none, one is
/// named twice, a run that is left out is none of theirs, or they measured different things (by
/// fabric, clock, or the version of an experiment); CAMPAIGN_RUNNING while one has not ended;
/// TOO_FEW_RUNS.
Answer<CampaignSpec> joint_spec(const FitOrder& order, const std::vector<FittedCampaign>& parts);

/// Why their measuring ended: CONVERGED where that of all did, else the first other reason.
std::string joint_stop_reason(const std::vector<FittedCampaign>& parts);

}  // namespace stripline::server
