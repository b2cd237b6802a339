// The value below which a share of all values are.
#pragma once

#include <cstddef>
#include <vector>

namespace stripline::load {

/// `sorted`: values in ascending order; 0 where there are none.
inline double percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace stripline::load
