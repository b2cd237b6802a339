// What the planner of bulk.h needs of the section `bulk` of a tuned model, compiled.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "optimizer/cost/corner.h"
#include "optimizer/cost/octave_table.h"
#include "optimizer/model/sections/bulk.h"

namespace stripline::plan {

/// Immutable once made; safe to share between threads.
class BulkCosts {
 public:
  static constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

  /// A model without the section: all defaults.
  BulkCosts() = default;
  /// The model is valid (model/validate.h).
  explicit BulkCosts(const model::BulkModel& model)
      : smallest_(model.copies.front().bytes),
        max_get_bytes_(model.max_get_bytes.value_or(kUnlimited)),
        in_flight_(model.in_flight.value_or(0)) {
    for (size_t i = 0; i < cost::kCorners; ++i) {
      const auto corner = static_cast<cost::Corner>(i);
      std::vector<cost::CurveValue> per_byte;
      for (const model::BulkCopyPoint& point : model.copies) {
        per_byte.push_back({point.bytes, cost::at_corner(point.copy_s, corner) /
                                             static_cast<double>(point.bytes)});
      }
      copy_s_per_byte_.at(i) = cost::OctaveTable(per_byte);
      if (model.check_s) check_s_.at(i) = cost::at_corner(*model.check_s, corner);
    }
  }

  /// True if copy_s() says something.
  bool has_copies() const { return smallest_ > 0; }
  /// Copying what came over the network; no less than that of the smallest size that was measured.
  double copy_s(uint64_t bytes, cost::Corner corner) const {
    const uint64_t counted = std::max(bytes, smallest_);
    return static_cast<double>(counted) * copy_s_per_byte_[static_cast<size_t>(corner)].at(counted);
  }
  /// Comparing an access with puts in flight; 0 where that is not known.
  double check_s(cost::Corner corner) const { return check_s_[static_cast<size_t>(corner)]; }
  /// No larger gets are made ahead; kUnlimited: all may be.
  uint64_t max_get_bytes() const { return max_get_bytes_; }
  /// Operations in flight to one rank; 0: not known.
  uint32_t in_flight() const { return in_flight_; }

 private:
  std::array<cost::OctaveTable, cost::kCorners> copy_s_per_byte_;
  std::array<double, cost::kCorners> check_s_{};
  uint64_t smallest_ = 0;
  uint64_t max_get_bytes_ = kUnlimited;
  uint32_t in_flight_ = 0;
};

}  // namespace stripline::plan
