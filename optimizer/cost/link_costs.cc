#include "optimizer/cost/link_costs.h"

#include <algorithm>
#include <cmath>
#include <functional>

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
  if (segment.r_batched_s) {
    costs.r_saved = std::max(0.0, costs.r_base - end_of(segment.r_batched_s, corner));
  }
  costs.s_base = end_of(segment.s_base_s, corner);
  costs.s_per_byte = end_of(segment.s_per_byte_s, corner);
  return costs;
}

// Sizes that the same segments answer for: one of them, or those that a switch lies between.
struct Range {
  uint64_t end = 0;  // exclusive
  size_t first = 0;  // of the model's segments
  size_t last = 0;   // inclusive
};

std::vector<Range> ranges_of(const std::vector<model::Segment>& segments) {
  constexpr uint64_t kEnd = std::numeric_limits<uint64_t>::max();
  if (segments.empty()) return {{kEnd, 0, 0}};
  // A segment may answer for sizes in [begin, end): where its own switch may lie to where the next
  // one surely does.
  const auto begin = [&](size_t i) {
    if (i == 0) return uint64_t{0};
    return segments[i].begins ? segments[i].begins->after_bytes + 1 : segments[i].from_bytes;
  };
  const auto end = [&](size_t i) {
    if (i + 1 == segments.size()) return kEnd;
    const model::Segment& next = segments[i + 1];
    return next.begins ? next.begins->by_bytes : next.from_bytes;
  };
  std::vector<uint64_t> edges;
  for (size_t i = 0; i < segments.size(); ++i) {
    edges.push_back(end(i));
    if (i > 0) edges.push_back(begin(i));
  }
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::vector<Range> ranges;
  for (const uint64_t edge : edges) {
    if (edge == 0) continue;
    Range range{edge, segments.size(), 0};
    for (size_t i = 0; i < segments.size(); ++i) {
      if (begin(i) >= edge || end(i) < edge) continue;
      range.first = std::min(range.first, i);
      range.last = std::max(range.last, i);
    }
    ranges.push_back(range);
  }
  return ranges;
}

struct Line {
  double base = 0;
  double per_byte = 0;
  double at(double bytes) const { return base + per_byte * bytes; }
};

// Bounds two lines on [low, high] by one: from above where `beyond` is >, from below where it is <.
// It joins the larger (smaller) values at the two ends. The larger of two lines is convex, so that
// this chord lies nowhere below it; the smaller one is concave, so that its chord lies nowhere
// above.
template <typename Compare>
Line chord(const Line& a, const Line& b, double low, double high, const Compare& beyond) {
  const auto at = [&](double bytes) {
    return beyond(a.at(bytes), b.at(bytes)) ? a.at(bytes) : b.at(bytes);
  };
  if (!(high > low)) return {at(low), 0};
  const double per_byte = (at(high) - at(low)) / (high - low);
  return {at(low) - per_byte * low, per_byte};
}

// Costs of messages of `low` to `high` bytes that may go by either of two protocols: each cost is
// bounded from above (`beyond` is >) or from below (<) by a line of its own.
template <typename Compare>
MessageCosts either(const MessageCosts& a, const MessageCosts& b, double low, double high,
                    const Compare& beyond) {
  const auto line = [&](double MessageCosts::*base, double MessageCosts::*per_byte) {
    return chord({a.*base, a.*per_byte}, {b.*base, b.*per_byte}, low, high, beyond);
  };
  const auto farther = [&](double x, double y) { return beyond(x, y) ? x : y; };
  MessageCosts costs;
  const Line o = line(&MessageCosts::o_base, &MessageCosts::o_per_byte);
  const Line r = line(&MessageCosts::r_base, &MessageCosts::r_per_byte);
  const Line s = line(&MessageCosts::s_base, &MessageCosts::s_per_byte);
  costs.o_base = o.base;
  costs.o_per_byte = o.per_byte;
  costs.r_base = r.base;
  costs.r_per_byte = r.per_byte;
  costs.r_saved = beyond(a.r_saved, b.r_saved) ? b.r_saved : a.r_saved;
  costs.s_base = s.base;
  costs.s_per_byte = s.per_byte;
  // Round trip and gap share G. That of the line which is farther beyond leaves both exact at the
  // small end, where there is least to be wrong by.
  const Line wire = chord({2 * a.L, a.G}, {2 * b.L, b.G}, low, high, beyond);
  const Line gap = chord({a.g, a.G}, {b.g, b.G}, low, high, beyond);
  costs.G = farther(wire.per_byte, gap.per_byte);
  costs.L = (wire.at(low) - costs.G * low) / 2;
  costs.g = gap.at(low) - costs.G * low;
  return costs;
}

}  // namespace

LinkCosts::LinkCosts(const model::OperationModel& operation) {
  const std::vector<Range> ranges = ranges_of(operation.segments);
  const size_t count = ranges.size();
  for (const Range& range : ranges) ends_.push_back(range.end);
  segments_.resize(kCorners * count);
  for (size_t corner = 0; corner < kCorners && !operation.segments.empty(); ++corner) {
    const auto compiled = [&](size_t segment) {
      return compile(operation.segments[segment], static_cast<Corner>(corner));
    };
    for (size_t i = 0; i < count; ++i) {
      const Range& range = ranges[i];
      MessageCosts costs = compiled(range.first);
      const double low = i == 0 ? 0.0 : static_cast<double>(ranges[i - 1].end);
      const auto high = static_cast<double>(range.end - 1);
      for (size_t other = range.first + 1; other <= range.last; ++other) {
        costs = static_cast<Corner>(corner) == Corner::low
                    ? either(costs, compiled(other), low, high, std::less<>())
                    : either(costs, compiled(other), low, high, std::greater<>());
      }
      segments_[i * kCorners + corner] = costs;
    }
  }
  for (size_t width = 0; width < first_by_width_.size(); ++width) {
    const uint64_t smallest = width == 0 ? 0 : uint64_t{1} << (width - 1);
    uint32_t index = 0;
    while (smallest >= ends_[index] && index + 1 < count) ++index;
    first_by_width_[width] = index;
  }
  if (operation.queue_depth && !operation.queue_depth->at_least) {
    const double depth = std::floor(operation.queue_depth->value);
    constexpr auto kMax = static_cast<double>(std::numeric_limits<uint32_t>::max());
    queue_depth_ = depth < 1      ? 1
                   : depth > kMax ? std::numeric_limits<uint32_t>::max()
                                  : static_cast<uint32_t>(depth);
  }
}

}  // namespace stripline::cost
