#include "optimizer/campaign/widths.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "optimizer/experiment/catalogue.h"

namespace stripline::campaign {
namespace {

// One point in twenty may be as wide as it likes: the grid has points that vary for ever, such as
// the first size beyond a cache.
constexpr double kNearlyAll = 0.95;
// For a blocking operation: what a difference of two times may be off by without harm.
constexpr double kLeastShare = 0.25;

bool is_difference(const std::string& experiment) {
  namespace micro = experiment::micro;
  return experiment == micro::kOverlap || experiment == micro::kServe ||
         experiment == micro::kNodeOverlap;
}

// The blocking operation beside which a difference counts.
std::optional<uint32_t> blocking(const PointTable& table, experiment::Point point) {
  namespace micro = experiment::micro;
  point.experiment =
      point.experiment == micro::kNodeOverlap ? micro::kNodeLatency.name : micro::kLatency.name;
  return table.find(point);
}

double nearly_all(std::vector<double> widths) {
  if (widths.empty()) return 0;
  std::ranges::sort(widths);
  const auto place =
      static_cast<size_t>(std::ceil(kNearlyAll * static_cast<double>(widths.size()))) - 1;
  return widths[place];
}

}  // namespace

std::optional<double> relative_width(const PointTable& table, uint32_t place) {
  const PointStatus& status = table.points().at(place);
  const auto estimate = estimate_of(status, kPointConfidence);
  if (!estimate || !estimate->low || !estimate->high) return std::nullopt;
  double scale = std::abs(estimate->median);
  if (is_difference(status.point.experiment)) {
    if (const auto whole = blocking(table, status.point)) {
      if (const auto time = estimate_of(table.points()[*whole], kPointConfidence)) {
        scale = std::max(scale, kLeastShare * time->median);
      }
    }
  }
  const double half = (*estimate->high - *estimate->low) / 2;
  if (half == 0) return 0;
  return half / scale;  // infinite beside nothing
}

double achieved_width(const PointTable& table) {
  std::vector<double> widths;
  for (uint32_t place = 0; place < table.points().size(); ++place) {
    if (const auto width = relative_width(table, place)) widths.push_back(*width);
  }
  return nearly_all(std::move(widths));
}

std::vector<Block> blocks_of(const PointTable& table, double target) {
  std::vector<Block> blocks;
  std::vector<std::vector<double>> widths;
  std::unordered_map<std::string, size_t> known;
  for (uint32_t place = 0; place < table.points().size(); ++place) {
    const PointStatus& status = table.points()[place];
    const auto [found, first] = known.emplace(status.point.experiment, blocks.size());
    if (first) {
      blocks.push_back(
          {.experiment = status.point.experiment, .places = {}, .runs = status.runs()});
      widths.emplace_back();
    }
    Block& block = blocks[found->second];
    block.places.push_back(place);
    block.runs = std::min(block.runs, status.runs());
    const auto width = relative_width(table, place);
    if (!width) continue;
    widths[found->second].push_back(*width);
    const auto runs = static_cast<double>(status.medians.size());
    if (*width > target && std::isfinite(*width)) {
      block.gain += *width * (1 - std::sqrt(runs / (runs + 1)));
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].gain /= static_cast<double>(blocks[i].places.size());
    blocks[i].width = nearly_all(std::move(widths[i]));
  }
  return blocks;
}

}  // namespace stripline::campaign
