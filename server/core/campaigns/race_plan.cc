#include "server/core/campaigns/race_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "server/core/sessions/fingerprint_rules.h"

namespace stripline::server {
namespace {

// Another network is farther away than any machine with the same one.
constexpr double kHardDifference = 100;

std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0)) return std::nullopt;
  return value;
}

double difference(const std::string& one, const std::string& other) {
  if (one == other) return 0;
  const auto a = number_of(one);
  const auto b = number_of(other);
  return a && b ? std::min(1.0, std::abs(std::log2(*a / *b))) : 1;
}

}  // namespace

double fingerprint_distance(const std::map<std::string, std::string>& one,
                            const std::map<std::string, std::string>& other) {
  double distance = 0;
  for (const auto& [field, value] : one) {
    const auto found = other.find(field);
    const model::MatchRule rule = fingerprint_rule(field);
    if (found == other.end() || rule == model::MatchRule::ignore) continue;
    const double weight = rule == model::MatchRule::hard ? kHardDifference : 1;
    distance += weight * difference(value, found->second);
  }
  return distance;
}

void begin_with(CampaignPlan& plan, const std::vector<uint32_t>& places, const std::string& why) {
  const auto all = plan.runs.front().points;
  std::vector<bool> is_first(all.size(), false);
  for (const uint32_t place : places) is_first.at(place) = true;
  std::vector<experiment::Point> ordered;
  for (const bool first : {true, false}) {
    for (size_t place = 0; place < all.size(); ++place) {
      if (is_first[place] == first) ordered.push_back(all[place]);
    }
  }
  for (experiment::Assignment& run : plan.runs) run.points = ordered;
  plan.least_points = plan.core_points = static_cast<uint32_t>(places.size());
  plan.note += std::string(plan.note.empty() ? "" : "; ") + "begins with " +
               std::to_string(places.size()) + " of " + std::to_string(all.size()) + " points, " +
               why;
}

campaign::PointTable table_of(const CampaignPlan& plan) {
  return campaign::PointTable(plan.runs.front().points);
}

}  // namespace stripline::server
