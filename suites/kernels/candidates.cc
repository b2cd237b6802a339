#include "suites/kernels/candidates.h"

#include <algorithm>
#include <string>

#include "suites/kernels/decomposition.h"
#include "suites/kernels/kernels.h"

namespace stripline::suites {
namespace {

constexpr int64_t kSmallestStripBytes = 1 << 10;
constexpr int64_t kMostStrips = 256;
constexpr int64_t kWindows[] = {1, 2, 4, 8};

}  // namespace

Result<std::vector<experiment::Point>> forced_candidates(const experiment::Point& base,
                                                         uint32_t ranks) {
  STRIPLINE_ASSIGN_OR_RETURN(const uint64_t total_bytes, transfer_bytes(base, ranks));
  const auto total = static_cast<int64_t>(total_bytes);
  std::vector<experiment::Point> points;
  const auto add = [&](int64_t strip_bytes, const char* schedule, int64_t window) {
    experiment::Point point = base;
    point.variant = "forced";
    point.params[kStripBytesFactor] = strip_bytes;
    point.params[kScheduleFactor] = std::string(schedule);
    point.params[kWindowFactor] = window;
    points.push_back(std::move(point));
  };
  add(total, "A", 0);
  int64_t size = 1;
  while (size * 2 < total) size *= 2;
  for (; size >= kSmallestStripBytes && total / size <= kMostStrips; size /= 2) {
    const int64_t strips = (total + size - 1) / size;
    add(size, "A", 0);
    for (const int64_t window : kWindows) {
      if (window < strips) add(size, "B", window);
    }
  }
  return points;
}

}  // namespace stripline::suites
