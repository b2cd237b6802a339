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
  STRIPLINE_ASSIGN_OR_RETURN(const Transfer transfer, transfer_of(base, ranks));
  const auto block = static_cast<int64_t>(transfer.block_bytes);
  const auto blocks = static_cast<int64_t>(transfer.blocks);
  std::vector<experiment::Point> points;
  const auto add = [&](int64_t strip_bytes, const char* schedule, int64_t window) {
    experiment::Point point = base;
    point.variant = "forced";
    point.params[kStripBytesFactor] = strip_bytes;
    point.params[kScheduleFactor] = std::string(schedule);
    point.params[kWindowFactor] = window;
    points.push_back(std::move(point));
  };
  const auto add_schedules = [&](int64_t strip_bytes, int64_t strips) {
    add(strip_bytes, "A", 0);
    for (const int64_t window : kWindows) {
      if (window < strips) add(strip_bytes, "B", window);
    }
  };
  add(0, "V", 0);
  add_schedules(0, blocks);
  int64_t size = 1;
  while (size * 2 < block) size *= 2;
  const auto strips = [&] { return (block + size - 1) / size * blocks; };
  for (; size >= kSmallestStripBytes && strips() <= kMostStrips; size /= 2) {
    add_schedules(size, strips());
  }
  return points;
}

}  // namespace stripline::suites
