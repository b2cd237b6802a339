#include "optimizer/fit/stream_bound.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace stripline::fit {

double StreamBound::per_byte(uint64_t bytes) const {
  constexpr double kAnything = std::numeric_limits<double>::infinity();
  if (each_s_.empty()) return kAnything;
  const uint64_t size =
      std::clamp<uint64_t>(bytes, 1, std::max<uint64_t>(1, each_s_.rbegin()->first));
  const auto above = each_s_.lower_bound(size);
  double each_s = above->second;
  if (above->first != size && above != each_s_.begin()) {
    const auto below = std::prev(above);
    const double share =
        static_cast<double>(size - below->first) / static_cast<double>(above->first - below->first);
    each_s = below->second + share * (above->second - below->second);
  }
  return each_s > 0.0 ? each_s / static_cast<double>(size) : kAnything;
}

}  // namespace stripline::fit
