#include "server/core/campaigns/drawn_shapes.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/random.h"
#include "optimizer/experiment/catalogue.h"

namespace stripline::server {
namespace {

namespace factor = experiment::factor;

constexpr uint64_t kPurpose = 0x5a9e5;  // tells these draws from other uses of a campaign's seed
constexpr int64_t kGranule = 8;         // regions are of doubles

std::optional<int64_t> whole(const experiment::Point& point, const char* name) {
  const auto value = experiment::number_param(point, name);
  return value ? std::optional(static_cast<int64_t>(*value)) : std::nullopt;
}

std::optional<std::tuple<int64_t, int64_t, int64_t>> key_of(const experiment::Point& point) {
  if (!(point.experiment == experiment::micro::kVis)) return std::nullopt;
  const auto region_bytes = whole(point, factor::kRegionBytes);
  const auto bytes = whole(point, factor::kBytes);
  const auto stride = whole(point, factor::kStride);
  if (!region_bytes || !bytes || !stride) return std::nullopt;
  return std::tuple(*region_bytes, *bytes, *stride);
}

// The place of a value among some, from 0 to nearly 1, by chance within its part.
double place_of(int64_t value, const std::set<int64_t>& values, SplitMix64& random) {
  const auto index = static_cast<double>(std::distance(values.begin(), values.find(value)));
  const double unit = static_cast<double>(random.next() >> 11U) * 0x1p-53;
  return (index + unit) / static_cast<double>(values.size());
}

double on_scale(double least, double most, double place) {
  return least * std::pow(most / least, place);
}

}  // namespace

DrawnShapes::DrawnShapes(const std::vector<experiment::Point>& points, uint64_t seed) {
  std::set<Key> keys;
  std::set<int64_t> region_sizes;
  std::set<int64_t> data_sizes;
  for (const experiment::Point& point : points) {
    const auto key = key_of(point);
    if (!key || !keys.insert(*key).second) continue;
    region_sizes.insert(std::get<0>(*key));
    data_sizes.insert(std::get<1>(*key));
  }
  std::set<Key> taken;
  for (const Key& key : keys) {
    const auto& [grid_region, grid_bytes, stride] = key;
    SplitMix64 random(
        derive_seed(derive_seed(seed, kPurpose), hash_of(grid_region, grid_bytes, stride)));
    const double place_of_region = place_of(grid_region, region_sizes, random);
    const double place_of_count = place_of(grid_bytes, data_sizes, random);
    const auto drawn =
        static_cast<int64_t>(on_scale(kLeastRegionBytes, kMaxRegionBytes, place_of_region));
    int64_t region_bytes = std::max(kGranule, drawn / kGranule * kGranule);
    const auto room = static_cast<double>(*data_sizes.rbegin()) / static_cast<double>(region_bytes);
    const double most = std::clamp(room, kLeastRegions, kMaxRegions);
    const auto regions = static_cast<int64_t>(on_scale(kLeastRegions, most, place_of_count));
    while (!taken.insert({region_bytes, regions, stride}).second) region_bytes += kGranule;
    shapes_[key] = {region_bytes, region_bytes * regions};
  }
}

void DrawnShapes::apply(std::vector<experiment::Point>& points) const {
  for (experiment::Point& point : points) {
    const auto key = key_of(point);
    if (!key) continue;
    const auto shape = shapes_.find(*key);
    if (shape == shapes_.end()) continue;
    point.params[factor::kRegionBytes] = shape->second.region_bytes;
    point.params[factor::kBytes] = shape->second.bytes;
  }
}

}  // namespace stripline::server
