#include "optimizer/cost/link_costs.h"

#include <cmath>

namespace stripline::cost {
namespace {

double end_of(const std::optional<model::Parameter>& parameter, Corner corner) {
  return parameter ? at_corner(*parameter, corner) : 0.0;
}

MessageCosts compile(const model::Segment& segment, Corner corner) {
  MessageCosts costs;
  costs.o_base = end_of(segment.o_base_s, corner);
  costs.o_per_byte = end_of(segment.o_per_byte_s, corner);
  costs.L = end_of(segment.L_s, corner);
  costs.g = end_of(segment.g_s, corner);
  costs.G = end_of(segment.G_s_per_byte, corner);
  costs.r_base = end_of(segment.r_base_s, corner);
  costs.r_per_byte = end_of(segment.r_per_byte_s, corner);
  costs.s_base = end_of(segment.s_base_s, corner);
  costs.s_per_byte = end_of(segment.s_per_byte_s, corner);
  return costs;
}

}  // namespace

LinkCosts::LinkCosts(const model::OperationModel& operation) {
  const size_t count = operation.segments.empty() ? 1 : operation.segments.size();
  ends_.reserve(count);
  for (size_t i = 0; i + 1 < count; ++i) ends_.push_back(operation.segments[i].to_bytes);
  ends_.push_back(std::numeric_limits<uint64_t>::max());
  segments_.resize(kCorners * count);
  for (size_t corner = 0; corner < kCorners; ++corner) {
    for (size_t i = 0; i < operation.segments.size(); ++i) {
      segments_[i * kCorners + corner] =
          compile(operation.segments[i], static_cast<Corner>(corner));
    }
  }
  for (size_t width = 0; width < first_by_width_.size(); ++width) {
    const uint64_t smallest = width == 0 ? 0 : uint64_t{1} << (width - 1);
    uint32_t index = 0;
    while (smallest >= ends_[index] && index + 1 < count) ++index;
    first_by_width_[width] = index;
  }
  if (operation.queue_depth) {
    const double depth = std::floor(operation.queue_depth->value);
    constexpr auto kMax = static_cast<double>(std::numeric_limits<uint32_t>::max());
    queue_depth_ = depth < 1      ? 1
                   : depth > kMax ? std::numeric_limits<uint32_t>::max()
                                  : static_cast<uint32_t>(depth);
  }
}

}  // namespace stripline::cost
