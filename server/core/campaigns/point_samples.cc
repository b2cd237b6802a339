#include "server/core/campaigns/point_samples.h"

#include <map>
#include <string>
#include <utility>

#include "optimizer/experiment/json.h"
#include "optimizer/stats/order.h"
#include "server/store/names.h"
#include "server/store/point_records.h"

namespace stripline::server {
namespace {

// A batch has megabytes at most.
constexpr size_t kBatchesAtOnce = 4;

std::string quoted(const std::string& text) { return dumped(Json(text)); }

}  // namespace

Answer<Json> point_samples(Store& store, int64_t campaign, uint32_t place) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto points, store.points(campaign, {}, place, 1));
  if (points.empty() || points.front().place != place) {
    return Problem{ErrorCode::not_found,
                   "POINT_NOT_FOUND",
                   campaign_name(campaign) + " has no point at place " + std::to_string(place),
                   {}};
  }
  const experiment::Point& point = points.front().point;
  // Names as they stand in the text of a batch: one without them has no sample of this point.
  const std::string experiment = quoted(point.experiment);
  const std::string variant = quoted(point.variant);
  std::map<std::pair<uint32_t, uint64_t>, std::string> nodes;
  Json runs = Json::array();
  for (int64_t after = 0;;) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto batches, store.batches(campaign, after, kBatchesAtOnce));
    if (batches.empty()) break;
    for (const BatchRecord& batch : batches) {
      after = batch.id;
      if (batch.data.find(experiment) == std::string::npos ||
          batch.data.find(variant) == std::string::npos) {
        continue;
      }
      STRIPLINE_ASSIGN_OR_RETURN(const auto series, series_of_batch(batch.data));
      for (const experiment::SampleSeries& one : series) {
        if (!(one.point == point)) continue;
        auto [node, fresh] = nodes.try_emplace({batch.run.run, batch.fence});
        if (fresh) {
          STRIPLINE_ASSIGN_OR_RETURN(const auto stored,
                                     store.sampling_node(batch.run, batch.fence));
          if (stored) node->second = node_name(*stored);
        }
        const bool valid = one.verified && !one.values.empty();
        runs.push_back({{"run", run_name(batch.run)},
                        {"node", node->second},
                        {"orphan", batch.orphan},
                        {"verified", one.verified},
                        {"median", valid ? Json(stats::median(one.values)) : Json()},
                        {"values", one.values}});
      }
    }
  }
  Json answer = experiment::to_json(point);
  answer["place"] = place;
  answer["runs"] = std::move(runs);
  return answer;
}

}  // namespace stripline::server
