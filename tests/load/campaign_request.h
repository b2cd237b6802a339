// The request for a campaign of the load: one run of one experiment over tcp.
#pragma once

#include <string>

#include "stripline/v1/campaigns.pb.h"

namespace stripline::load {

inline v1::CreateCampaignRequest campaign_request(const std::string& experiment) {
  v1::CreateCampaignRequest request;
  request.mutable_spec()->set_fabric("tcp");
  request.mutable_spec()->add_experiments(experiment);
  request.mutable_spec()->set_runs(1);
  request.mutable_spec()->set_time_budget_s(86400);
  request.mutable_spec()->set_effort(v1::CampaignSpec::FULL);
  return request;
}

}  // namespace stripline::load
