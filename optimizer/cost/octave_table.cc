#include "optimizer/cost/octave_table.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "optimizer/cost/log2_of.h"

namespace stripline::cost {
namespace {

double interpolated(std::span<const CurveValue> points, double log2_bytes) {
  const auto right = std::find_if(points.begin(), points.end(), [&](const CurveValue& point) {
    return log2_of(point.bytes) >= log2_bytes;
  });
  if (right == points.begin()) return points.front().value;
  if (right == points.end()) return points.back().value;
  const CurveValue& left = *std::prev(right);
  const double from = log2_of(left.bytes);
  const double share = (log2_bytes - from) / (log2_of(right->bytes) - from);
  return left.value + share * (right->value - left.value);
}

}  // namespace

OctaveTable::OctaveTable(std::span<const CurveValue> points) {
  if (points.empty()) return;
  for (size_t power = 0; power < at_power_.size(); ++power) {
    const auto x = static_cast<double>(power);
    at_power_[power] = interpolated(points, x);
    slope_[power] = (interpolated(points, x + 1) - at_power_[power]) / std::exp2(x);
  }
}

}  // namespace stripline::cost
