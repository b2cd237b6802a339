#include "optimizer/fit/borrowed_slopes.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace stripline::fit {
namespace {

// A slope whose interval is wider than this share of it is not determined.
constexpr double kDeterminedWidth = 1.0;
// What a byte takes by two protocols of one network differs by no more than this factor, unless it
// was measured to: the wire is the same, and a copy more or less is what protocols differ by.
constexpr double kSlopesDiffer = 4.0;

bool is_determined(const std::optional<model::Parameter>& slope) {
  return slope && slope->value > 0.0 &&
         slope->ci_high - slope->ci_low <= kDeterminedWidth * slope->value;
}

const model::Segment* nearest_determined(std::span<const model::Segment> segments, std::size_t to) {
  for (std::size_t distance = 1; distance < segments.size(); ++distance) {
    for (const std::size_t other : {to + distance, to - distance}) {  // wraps below 0
      if (other < segments.size() && is_determined(segments[other].G_s_per_byte)) {
        return &segments[other];
      }
    }
  }
  return nullptr;
}

}  // namespace

std::vector<std::optional<model::Parameter>> borrowed_slopes(
    std::span<const model::Segment> segments) {
  std::vector<std::optional<model::Parameter>> borrowed(segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto& own = segments[i].G_s_per_byte;
    if (!own || is_determined(own)) continue;
    const model::Segment* const nearest = nearest_determined(segments, i);
    if (nearest == nullptr) continue;
    model::Parameter slope = *nearest->G_s_per_byte;
    slope.value = std::clamp(slope.value, own->ci_low, own->ci_high);
    slope.ci_low = std::max(own->ci_low, slope.value / kSlopesDiffer);
    slope.ci_high = std::min(own->ci_high, slope.value * kSlopesDiffer);
    slope.method = "that of the segment from " + std::to_string(nearest->from_bytes) + " bytes";
    borrowed[i] = slope;
  }
  return borrowed;
}

}  // namespace stripline::fit
