// Campaigns that race: with what they begin. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "optimizer/campaign/point_table.h"
#include "server/core/campaigns/campaign_planner.h"

namespace stripline::server {

/// How unlike two machines are by their facts: for each field one that differs, less where two
/// numbers are near each other, and more where it decides which network it is
/// (fingerprint_rules.h). What only says where something was measured does not count, nor a field
/// that one of them lacks.
double fingerprint_distance(const std::map<std::string, std::string>& one,
                            const std::map<std::string, std::string>& other);

/// Puts these of the plan's points first, as the grid that a first run measures, and says in its
/// note why they are.
void begin_with(CampaignPlan& plan, const std::vector<uint32_t>& places, const std::string& why);

/// The points of a plan, of which nothing is known.
campaign::PointTable table_of(const CampaignPlan& plan);

}  // namespace stripline::server
