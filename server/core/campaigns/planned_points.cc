#include "server/core/campaigns/planned_points.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/tuning.h"

namespace stripline::server {

Result<PlannedPoints> PlannedPoints::read(std::string_view plan_json, uint32_t count) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(plan_json, "stored plan"));
  STRIPLINE_ASSIGN_OR_RETURN(const auto plan, experiment::assignment_from_json(json));
  PlannedPoints planned;
  for (uint32_t place = 0; place < std::min<size_t>(count, plan.points.size()); ++place) {
    planned.index_.emplace(point_key(plan.points[place]), place);
    planned.tunes_ = planned.tunes_ || plan.points[place].experiment == experiment::kTuneExperiment;
  }
  return planned;
}

std::vector<std::optional<uint32_t>> PlannedPoints::places_in(
    const campaign::PointTable& table) const {
  std::vector<std::optional<uint32_t>> places(index_.size());
  for (const auto& [key, place] : index_) places.at(place) = table.find(key);
  return places;
}

Result<std::vector<uint32_t>> PlannedPoints::find(
    const std::vector<experiment::SampleSeries>& series) const {
  std::vector<uint32_t> places;
  std::set<uint32_t> unique;
  for (const experiment::SampleSeries& one : series) {
    if (is_beside(one.point)) continue;
    const std::string key = point_key(one.point);
    const auto found = index_.find(key);
    if (found == index_.end()) {
      return Error(ErrorCode::data_loss, "samples of " + key + ", which is not in the run's plan");
    }
    if (!unique.insert(found->second).second) {
      return Error(ErrorCode::data_loss, "samples of " + key + " twice");
    }
    places.push_back(found->second);
  }
  return places;
}

bool PlannedPoints::is_beside(const experiment::Point& point) const {
  return tunes_ && experiment::is_cell(point);
}

bool PointSet::contains_any(const std::vector<campaign::PointResult>& results) const {
  return std::ranges::any_of(results, [&](const campaign::PointResult& result) {
    return result.place < present_.size() && present_[result.place];
  });
}

void PointSet::remove(const std::vector<campaign::PointResult>& results) {
  for (const auto& [place, median, samples, seconds] : results) {
    if (place >= present_.size() || !present_[place]) continue;
    present_[place] = false;
    --size_;
  }
}

void PointSet::add(const std::vector<campaign::PointResult>& results) {
  for (const auto& [place, median, samples, seconds] : results) {
    if (place >= present_.size()) present_.resize(place + 1);
    if (!present_[place]) ++size_;
    present_[place] = true;
  }
}

}  // namespace stripline::server
