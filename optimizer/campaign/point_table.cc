#include "optimizer/campaign/point_table.h"

#include <algorithm>
#include <utility>

#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"

namespace stripline::campaign {

namespace {

// From the first repetition's end to the last one's, and one more.
double seconds_of(const experiment::SampleSeries& series) {
  const auto& ends_s = series.timestamps_s;
  const auto count = static_cast<double>(ends_s.size());
  if (count < 2) return 0;
  return std::max(0.0, (ends_s.back() - ends_s.front()) * count / (count - 1));
}

}  // namespace

PointResult result_of(const experiment::SampleSeries& series, uint32_t place) {
  const double seconds = seconds_of(series);
  if (!series.verified || series.values.empty()) return {place, 0, 0, seconds};
  return {place, stats::median(series.values), series.values.size(), seconds};
}

std::optional<Estimate> estimate_of(const PointStatus& point, double confidence) {
  if (point.medians.empty()) return std::nullopt;
  std::vector<double> medians;
  medians.reserve(point.medians.size());
  for (const auto& [run, median] : point.medians) medians.push_back(median);
  Estimate estimate{.median = stats::median(medians), .low = {}, .high = {}};
  if (const auto interval = stats::run_median_interval(medians, confidence); interval.ok()) {
    estimate.low = interval->interval.low;
    estimate.high = interval->interval.high;
  }
  return estimate;
}

PointTable::PointTable(std::vector<experiment::Point> points) {
  points_.reserve(points.size());
  for (experiment::Point& point : points) add(std::move(point));
}

uint32_t PointTable::add(experiment::Point point) {
  const auto place = static_cast<uint32_t>(points_.size());
  places_.emplace(point_key(point), place);
  points_.push_back({.point = std::move(point), .medians = {}});
  return place;
}

std::optional<uint32_t> PointTable::find(const experiment::Point& point) const {
  return find(point_key(point));
}

std::optional<uint32_t> PointTable::find(const std::string& key) const {
  const auto found = places_.find(key);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

void PointTable::add_run(uint32_t run, std::span<const PointResult> results) {
  for (const PointResult& result : results) {
    PointStatus& point = points_.at(result.place);
    point.seconds = result.seconds;
    if (result.samples == 0) {
      ++point.failed;
      continue;
    }
    point.medians[run] = result.median;
    point.samples += result.samples;
  }
}

}  // namespace stripline::campaign
