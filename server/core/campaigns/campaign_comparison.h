// What speaks against comparing two campaigns. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "server/store/records.h"

namespace stripline::server {

/// A field of the specs in which they differ, as text.
struct SpecDifference {
  std::string field;
  std::string a;
  std::string b;
};

/// Compares where and what they measure, not how long.
std::vector<SpecDifference> spec_differences(const CampaignSpec& a, const CampaignSpec& b);

/// The experiments of both that are not the same on both sides, and why: campaign::ComparisonTerms.
/// The fabric and the cluster may differ, which is what is compared then.
std::map<std::string, std::string> other_experiments(const CampaignRecord& a,
                                                     const CampaignRecord& b);

}  // namespace stripline::server
