#include "server/core/campaigns/campaign_comparison.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace stripline::server {
namespace {

// Another value of these makes a point of the same name something else.
constexpr std::array<std::string_view, 3> kMeaning = {"clock", "nodes", "ranks"};

std::string paths_text(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) text += (text.empty() ? "" : ", ") + path;
  return text.empty() ? "none" : text;
}

}  // namespace

std::vector<SpecDifference> spec_differences(const CampaignSpec& a, const CampaignSpec& b) {
  std::vector<SpecDifference> differences;
  const auto add = [&](const char* field, const std::string& ours, const std::string& theirs) {
    if (ours != theirs) differences.push_back({field, ours, theirs});
  };
  add("cluster", a.cluster, b.cluster);
  add("fabric", a.fabric, b.fabric);
  add("clock", a.clock, b.clock);
  add("nodes", std::to_string(a.nodes), std::to_string(b.nodes));
  add("ranks", std::to_string(a.ranks), std::to_string(b.ranks));
  add("same_node", paths_text(a.same_node), paths_text(b.same_node));
  return differences;
}

std::map<std::string, std::string> other_experiments(const CampaignRecord& a,
                                                     const CampaignRecord& b) {
  std::string of_all;
  for (const SpecDifference& difference : spec_differences(a.spec, b.spec)) {
    if (std::ranges::find(kMeaning, difference.field) == kMeaning.end()) continue;
    of_all += (of_all.empty() ? "" : "; ") + difference.field + " " + difference.a + " and " +
              difference.b;
  }
  std::map<std::string, std::string> others;
  for (const auto& [experiment, version] : a.requirements) {
    const auto found = b.requirements.find(experiment);
    if (found == b.requirements.end()) continue;
    if (!of_all.empty()) {
      others[experiment] = of_all;
    } else if (found->second != version) {
      others[experiment] = "versions " + std::to_string(version) + " and " +
                           std::to_string(found->second) + " of it";
    }
  }
  return others;
}

}  // namespace stripline::server
