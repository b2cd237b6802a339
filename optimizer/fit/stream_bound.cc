#include "optimizer/fit/stream_bound.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "optimizer/fit/run_lines.h"

namespace stripline::fit {

StreamBound::StreamBound(std::map<uint64_t, double> each_s) : each_s_(std::move(each_s)) {
  std::erase_if(each_s_, [](const auto& size) { return !(size.second > 0.0); });
}

double StreamBound::per_byte(uint64_t bytes) const {
  constexpr double kAnything = std::numeric_limits<double>::infinity();
  if (each_s_.empty() || each_s_.rbegin()->first == 0) return kAnything;
  const uint64_t size = std::clamp<uint64_t>(bytes, 1, each_s_.rbegin()->first);
  return linear_between(each_s_, size, std::identity()) / static_cast<double>(size);
}

}  // namespace stripline::fit
