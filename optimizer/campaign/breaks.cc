#include "optimizer/campaign/breaks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "optimizer/experiment/catalogue.h"
#include "optimizer/fit/segments.h"

namespace stripline::campaign {
namespace {

constexpr int kParts = 4;
constexpr double kGranule = 8;
constexpr const char* kBytes = experiment::factor::kBytes;

// Points that differ in size alone make a curve.
std::map<std::string, std::vector<const PointStatus*>> latency_curves(const PointTable& table) {
  std::map<std::string, std::vector<const PointStatus*>> curves;
  for (const PointStatus& status : table.points()) {
    if (!(status.point.experiment == experiment::micro::kLatency) || status.medians.empty()) {
      continue;
    }
    experiment::Point key = status.point;
    if (key.params.erase(kBytes) == 0) continue;
    curves[point_key(key)].push_back(&status);
  }
  return curves;
}

fit::Curve curve_of(const std::vector<const PointStatus*>& points) {
  fit::Curve curve;
  for (const PointStatus* status : points) {
    const auto bytes = experiment::number_param(status->point, kBytes);
    const double median = estimate_of(*status, kPointConfidence)->median;
    if (!bytes || !(*bytes >= 0) || !(median > 0)) continue;
    curve.push_back({static_cast<uint64_t>(*bytes), median, 1 / (median * median)});
  }
  return curve;
}

bool are_near(const fit::Breakpoint& at) {
  const auto low = static_cast<double>(at.last_below);
  const auto high = static_cast<double>(at.first_above);
  return high <= kNearRatio * low || high - low <= kNearBytes;
}

void add_between(const fit::Breakpoint& at, const experiment::Point& like, const PointTable& table,
                 std::vector<experiment::Point>& added) {
  const auto low = static_cast<double>(std::max<uint64_t>(1, at.last_below));
  const double ratio = static_cast<double>(at.first_above) / low;
  for (int part = 1; part < kParts; ++part) {
    const double size = low * std::pow(ratio, static_cast<double>(part) / kParts);
    experiment::Point point = like;
    point.params[kBytes] = static_cast<int64_t>(std::round(size / kGranule) * kGranule);
    const bool twice = std::ranges::find(added, point) != added.end();
    if (!twice && !table.find(point)) added.push_back(std::move(point));
  }
}

}  // namespace

std::vector<experiment::Point> points_at_breaks(const PointTable& table) {
  std::vector<experiment::Point> added;
  for (const auto& [key, points] : latency_curves(table)) {
    const fit::Curve curve = curve_of(points);
    const fit::Curve curves[] = {curve};
    const auto segmentation = fit::segment_curves(curves);
    if (!segmentation.ok()) continue;  // a size twice, or none at all: nothing to find there
    for (const fit::Breakpoint& at : segmentation->breaks) {
      if (!are_near(at)) add_between(at, points.front()->point, table, added);
    }
  }
  return added;
}

}  // namespace stripline::campaign
