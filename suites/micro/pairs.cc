#include "suites/micro/pairs.h"

#include <algorithm>

namespace stripline::suites {

std::optional<std::vector<uint32_t>> pair_at_distance(
    uint32_t nodes, uint32_t distance,
    const std::function<uint32_t(uint32_t, uint32_t)>& distance_of) {
  const auto near = [&](uint32_t a, uint32_t b, uint32_t within) {
    return a == b || (within > 0 && distance_of(a, b) < within);
  };
  std::vector<uint32_t> partner(nodes);
  std::vector<bool> done(nodes, false);
  for (uint32_t first = 0; first < nodes; ++first) {
    if (done[first]) continue;
    // The group of this node, those that are near each other one after another.
    std::vector<uint32_t> group;
    size_t largest = 0;
    for (uint32_t a = first; a < nodes; ++a) {
      if (done[a] || !near(first, a, distance + 1)) continue;
      const size_t before = group.size();
      for (uint32_t b = a; b < nodes; ++b) {
        if (done[b] || !near(a, b, distance)) continue;
        group.push_back(b);
        done[b] = true;
      }
      largest = std::max(largest, group.size() - before);
    }
    for (size_t i = 0; i < group.size(); ++i) {
      partner[group[i]] = group[(i + largest) % group.size()];
      if (near(group[i], partner[group[i]], distance)) return std::nullopt;
    }
  }
  return partner;
}

}  // namespace stripline::suites
