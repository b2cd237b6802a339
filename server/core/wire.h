// Between the server's values and stripline.v1's messages. Include from .cc files of the services.
#pragma once

#include <string>
#include <string_view>

#include "optimizer/campaign/compare_campaigns.h"
#include "server/core/campaigns/campaign_view.h"
#include "server/core/coordinator.h"
#include "server/core/sessions/run_load.h"
#include "server/security/access.h"
#include "stripline/v1/access.pb.h"
#include "stripline/v1/campaigns.pb.h"
#include "stripline/v1/fleet.pb.h"
#include "stripline/v1/models.pb.h"

namespace stripline::server {

/// The value that a generated parser ("v1::Campaign::State_Parse") knows by this name, by which it
/// is stored, too; else the unspecified one.
template <typename Name, typename WireEnum>
WireEnum wire_named(bool (*parse)(Name, WireEnum*), std::string_view name) {
  auto value = static_cast<WireEnum>(0);
  (void)parse(std::string(name), &value);
  return value;
}

v1::Campaign to_wire(const CampaignView& view);
v1::CampaignEstimate to_wire(const CampaignEstimate& estimate);
/// A point of the comparison. Errors: data_loss, for parameters that cannot be read.
Result<v1::ComparedPoint> to_wire(const campaign::Comparison& of,
                                  const campaign::ComparedPoint& point);
v1::PlannedPoint to_wire(const PointRecord& record);
v1::RunLoad to_wire(const RunLoad& load);

v1::Node to_wire(const NodeView& view);
v1::Model to_wire(const ModelRecord& record);
v1::ModelVersion to_wire(const ModelVersionRecord& record);
/// Unspecified for Role::nobody.
v1::Role to_wire(Role role);

}  // namespace stripline::server
