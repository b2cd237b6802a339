#include "server/core/models/measured_loss.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/quantity.h"
#include "server/core/models/model_verdict.h"

namespace stripline::server {
namespace {

// Means of so few executions are believed from so large a loss on. A report has no spread of them.
constexpr uint64_t kFewTimes = 2;
constexpr double kPlainLoss = 0.25;
constexpr uint64_t kSeveralTimes = 8;
constexpr double kClearLoss = 0.1;
// The guard has compared them until it was sure.
constexpr double kLeastLoss = 0.02;

constexpr size_t kPlacesTold = 3;

struct LostPlace {
  std::string text;
  double share = 0;
};

}  // namespace

std::optional<double> loss_of(const model::FeedbackPlace& place) {
  if (!(place.measured_s > 0) || !(place.simple_s > 0)) return std::nullopt;
  const double share = place.measured_s / place.simple_s - 1;
  const uint64_t fewest = std::min(place.as_chosen, place.simple);
  const bool is_sure = (fewest >= kFewTimes && share >= kPlainLoss) ||
                       (fewest >= kSeveralTimes && share >= kClearLoss) ||
                       (place.demoted_ranks > 0 && share >= kLeastLoss);
  return is_sure ? std::optional(share) : std::nullopt;
}

std::optional<MeasuredLoss> measured_loss(const std::vector<FeedbackRecord>& reports,
                                          double since_unix_s) {
  constexpr std::string_view kNodes = "nodes/";
  std::set<std::tuple<std::string, std::string, std::string>> places;
  std::set<std::string> runs;
  std::set<std::string> nodes;
  std::vector<LostPlace> lost;
  MeasuredLoss loss;
  for (const FeedbackRecord& record : reports) {
    if (record.time_unix_s < since_unix_s) continue;
    for (const model::FeedbackPlace& place : record.report.places) {
      const auto share = loss_of(place);
      if (!share) continue;
      runs.insert(record.report.run);
      if (record.sender.starts_with(kNodes)) {
        nodes.insert(record.sender.substr(kNodes.size()));
      } else {
        loss.by_users = true;
      }
      if (!places.emplace(record.report.program, place.place, place.what).second) continue;
      lost.push_back({place.place + ", " + place.what + ", took " + share_text(*share) +
                          " longer than the baseline (" + record.report.program + ", by " +
                          record.sender + ")",
                      *share});
    }
  }
  if (places.size() < 2 && runs.size() < 2) return std::nullopt;
  std::ranges::stable_sort(lost, std::greater(), &LostPlace::share);
  loss.why = count_text(places.size(), "place", "places") + " lost time in reports of " +
             count_text(runs.size(), "run", "runs") + ": ";
  for (size_t i = 0; i < std::min(lost.size(), kPlacesTold); ++i) {
    loss.why += (i > 0 ? "; " : "") + lost[i].text;
  }
  loss.nodes.assign(nodes.begin(), nodes.end());
  return loss;
}

std::vector<std::string> elsewhere(const MeasuredLoss& loss, const std::vector<NodeGroup>& all) {
  std::vector<std::string> others;
  if (loss.by_users) return others;
  std::set<std::string> clusters;
  for (const NodeGroup& one : all) {
    if (std::ranges::binary_search(loss.nodes, one.node)) clusters.insert(one.cluster);
  }
  if (clusters.empty()) return others;  // No one knows where these nodes are.
  for (const NodeGroup& one : all) {
    if (!clusters.contains(one.cluster)) others.push_back(one.node);
  }
  std::ranges::sort(others);
  return others;
}

}  // namespace stripline::server
