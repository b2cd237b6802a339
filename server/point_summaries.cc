#include "server/point_summaries.h"

#include <vector>

#include "optimizer/experiment/json.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"

namespace stripline::server {
namespace {

constexpr size_t kBatchesAtOnce = 32;
constexpr double kConfidence = 0.95;

}  // namespace

Status PointSummaries::catch_up(Store& store, int64_t campaign) {
  while (true) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto batches,
                               store.batches(campaign, last_batch_, kBatchesAtOnce));
    if (batches.empty()) return {};
    for (const BatchRecord& batch : batches) {
      last_batch_ = batch.id;
      if (batch.orphan) continue;
      STRIPLINE_ASSIGN_OR_RETURN(const Json array, parse_json(batch.data, "stored samples"));
      for (const Json& one : array) {
        STRIPLINE_ASSIGN_OR_RETURN(const auto series, experiment::sample_series_from_json(one));
        add(series);
      }
    }
  }
}

void PointSummaries::add(const experiment::SampleSeries& series) {
  Summary& summary = points_[experiment::point_key(series.point)];
  summary.point = series.point;
  if (series.verified && !series.values.empty()) {
    // A run that is measured again takes the place of its earlier attempt.
    summary.medians[series.run] = {stats::median(series.values), series.values.size()};
  } else {
    ++summary.failed;
  }
}

Json PointSummaries::to_json() const {
  Json points = Json::array();
  for (const auto& [key, summary] : points_) {
    Json one = experiment::to_json(summary.point);
    std::vector<double> medians;
    size_t samples = 0;
    for (const auto& [run, of_run] : summary.medians) {
      medians.push_back(of_run.first);
      samples += of_run.second;
    }
    one["runs"] = medians.size();
    one["samples"] = samples;
    one["failed"] = summary.failed;
    one["median"] = medians.empty() ? Json() : Json(stats::median(medians));
    const auto interval = stats::run_median_interval(medians, kConfidence);
    one["low"] = interval.ok() ? Json(interval->interval.low) : Json();
    one["high"] = interval.ok() ? Json(interval->interval.high) : Json();
    points.push_back(std::move(one));
  }
  return {{"points", std::move(points)}};
}

}  // namespace stripline::server
