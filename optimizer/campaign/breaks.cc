#include "optimizer/campaign/breaks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "optimizer/experiment/catalogue.h"
#include "optimizer/fit/segments.h"
#include "optimizer/fit/stream_bound.h"

namespace stripline::campaign {
namespace {

constexpr int kParts = 4;
constexpr double kGranule = 8;
constexpr const char* kBytes = experiment::factor::kBytes;

// Points that differ in size alone make a curve.
std::map<std::string, std::vector<const PointStatus*>> latency_curves(
    const PointTable& table, const experiment::HeldOutPoints* held_out) {
  std::map<std::string, std::vector<const PointStatus*>> curves;
  for (const PointStatus& status : table.points()) {
    if (!(status.point.experiment == experiment::micro::kLatency) || status.medians.empty()) {
      continue;
    }
    if (held_out != nullptr && held_out->find(status.point)) continue;
    experiment::Point key = status.point;
    if (key.params.erase(kBytes) == 0) continue;
    curves[point_key(key)].push_back(&status);
  }
  return curves;
}

// A transfer's share of streams of the same operation, by the numbers of transfers farthest apart.
fit::StreamBound streams_of(const PointTable& table, const std::string& operation,
                            const experiment::HeldOutPoints* held_out) {
  std::map<uint64_t, std::map<double, double>> times_s;  // by size, then number
  for (const PointStatus& status : table.points()) {
    if (!(status.point.experiment == experiment::micro::kFlood) || status.medians.empty()) continue;
    if (status.point.variant != operation) continue;
    if (held_out != nullptr && held_out->find(status.point)) continue;
    const auto bytes = experiment::number_param(status.point, kBytes);
    const auto count = experiment::number_param(status.point, experiment::factor::kCount);
    if (!bytes || !count || !(*bytes >= 0)) continue;
    times_s[static_cast<uint64_t>(*bytes)][*count] = estimate_of(status, kPointConfidence)->median;
  }
  std::map<uint64_t, double> each_s;
  for (const auto& [bytes, by_count] : times_s) {
    const auto& [fewest, fewest_s] = *by_count.begin();
    const auto& [most, most_s] = *by_count.rbegin();
    if (most > fewest) each_s[bytes] = (most_s - fewest_s) / (most - fewest);
  }
  return fit::StreamBound(std::move(each_s));
}

fit::Curve curve_of(const std::vector<const PointStatus*>& points,
                    const fit::StreamBound& streams) {
  fit::Curve curve;
  for (const PointStatus* status : points) {
    const auto bytes = experiment::number_param(status->point, kBytes);
    const double median = estimate_of(*status, kPointConfidence)->median;
    if (!bytes || !(*bytes >= 0) || !(median > 0)) continue;
    const auto size = static_cast<uint64_t>(*bytes);
    curve.push_back({size, median, 1 / (median * median), streams.per_byte(size)});
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

std::vector<experiment::Point> points_at_breaks(const PointTable& table,
                                                const experiment::HeldOutPoints* held_out) {
  std::vector<experiment::Point> added;
  for (const auto& [key, points] : latency_curves(table, held_out)) {
    const std::string& operation = points.front()->point.variant;
    const fit::Curve curve = curve_of(points, streams_of(table, operation, held_out));
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
