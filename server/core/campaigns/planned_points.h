// The points that a run is to measure, and those of them that it has sent. Pure; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "optimizer/campaign/point_table.h"
#include "optimizer/experiment/experiment.h"

namespace stripline::server {

/// The points of a plan by their keys.
class PlannedPoints {
 public:
  /// The first `count` points of a stored plan. Errors: data_loss.
  static Result<PlannedPoints> read(std::string_view plan_json, uint32_t count);

  size_t size() const { return index_.size(); }
  /// Where its points are in the campaign's table, in the order of this plan; nullopt for one that
  /// is not there.
  std::vector<std::optional<uint32_t>> places_in(const campaign::PointTable& table) const;
  /// The places of these series' points in the plan, without those beside it. Errors: data_loss if
  /// one is not in it, or is there twice.
  Result<std::vector<uint32_t>> find(const std::vector<experiment::SampleSeries>& series) const;
  /// Whether a point is one that the run finds itself: a cell of a run that tunes another runtime.
  bool is_beside(const experiment::Point& point) const;

 private:
  std::unordered_map<std::string, uint32_t> index_;
  bool tunes_ = false;
};

/// Marks points by the places that their results name.
class PointSet {
 public:
  size_t size() const { return size_; }
  bool contains_any(const std::vector<campaign::PointResult>& results) const;
  void add(const std::vector<campaign::PointResult>& results);
  void remove(const std::vector<campaign::PointResult>& results);

 private:
  std::vector<bool> present_;
  size_t size_ = 0;
};

}  // namespace stripline::server
