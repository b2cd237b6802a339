#include "suites/results/vis_regret.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

namespace stripline::suites::results {
namespace {

using experiment::Point;
using plan::ComputeClass;
using plan::Direction;
using plan::VisMethod;

constexpr uint64_t kRegionBytes[] = {8, 32, 128, 512, 2048, 8192};
constexpr uint64_t kDataBytes[] = {1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10};
constexpr uint64_t kMostRegions = 4096;  // as micro.vis
constexpr uint64_t kStride = 2;
constexpr uint64_t kDefaultChunk = 8192;
constexpr uint32_t kDefaultWindow = 8;
constexpr int64_t kIovLimit = 4;  // libfabric's tcp provider and the emulated networks

const std::optional<model::VisDirection>& of(Direction direction, const model::VisModel& tuned) {
  return direction == Direction::get ? tuned.get : tuned.put;
}

// Of one method under whichever setting it was measured.
std::optional<double> time_of(const fit::VisTimes& times, VisMethod method) {
  const auto& settings = times.methods[static_cast<size_t>(method)];
  if (settings.empty()) return std::nullopt;
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [setting, medians] : settings) {
    best = std::min(best, fit::across_runs(medians));
  }
  return best;
}

}  // namespace

std::string VisCell::text() const {
  return std::string(to_string(shape.direction)) + ", " + std::string(to_string(compute)) + ": " +
         std::to_string(shape.regions) + " x " + std::to_string(shape.region_bytes) + " B";
}

std::vector<VisCell> vis_cells(bool quick) {
  std::vector<VisCell> cells;
  for (const Direction direction : {Direction::get, Direction::put}) {
    if (quick && direction == Direction::put) continue;
    for (const ComputeClass compute :
         {ComputeClass::communication_only, ComputeClass::light, ComputeClass::heavy}) {
      for (size_t i = 0; i < std::size(kRegionBytes); ++i) {
        for (size_t j = 0; j < std::size(kDataBytes); ++j) {
          const uint64_t regions = kDataBytes[j] / kRegionBytes[i];
          if (regions < 2 || regions > kMostRegions) continue;
          if (quick && (i > 3 || j > 2)) continue;
          cells.push_back(
              {{direction, kRegionBytes[i], regions, kStride}, compute, (i + j) % 2 == 1});
        }
      }
    }
  }
  return cells;
}

uint64_t vis_chunk_bytes(Direction direction, const model::VisModel& tuned) {
  const auto& measured = of(direction, tuned);
  return measured ? measured->chunk_bytes.value_or(kDefaultChunk) : kDefaultChunk;
}

std::vector<Point> vis_points(const VisCell& cell, const model::VisModel& tuned) {
  const auto& measured = of(cell.shape.direction, tuned);
  const uint32_t packed_window =
      measured ? measured->window.value_or(kDefaultWindow) : kDefaultWindow;
  const uint32_t pipelined_window =
      measured ? measured->pipelined_window.value_or(kDefaultWindow) : kDefaultWindow;
  std::vector<Point> points;
  const auto add = [&](std::string_view variant, uint32_t window) {
    Point point{"micro.vis", std::string(variant), {}};
    point.params["direction"] = std::string(to_string(cell.shape.direction));
    point.params["class"] = std::string(to_string(cell.compute));
    point.params["region_bytes"] = static_cast<int64_t>(cell.shape.region_bytes);
    point.params["bytes"] = static_cast<int64_t>(cell.shape.region_bytes * cell.shape.regions);
    point.params["stride"] = static_cast<int64_t>(cell.shape.stride);
    point.params["chunk_bytes"] =
        static_cast<int64_t>(vis_chunk_bytes(cell.shape.direction, tuned));
    point.params["window"] = static_cast<int64_t>(window);
    point.params["iov_limit"] = kIovLimit;
    points.push_back(std::move(point));
  };
  for (size_t m = 0; m < plan::kVisMethods; ++m) {
    const auto method = static_cast<VisMethod>(m);
    if (method == VisMethod::bounding_box && cell.shape.direction == Direction::put) continue;
    add(to_string(method), method == VisMethod::packed ? packed_window : pipelined_window);
  }
  if (cell.compute != ComputeClass::communication_only) add("compute", packed_window);
  return points;
}

VisRegret vis_regret(const std::vector<VisCell>& cells, const fit::VisSamples& samples,
                     const std::function<VisMethod(const VisCell&)>& choose) {
  VisRegret regret;
  double sum = 0;
  for (const VisCell& cell : cells) {
    if (!cell.judged) continue;
    const auto& by_shape = samples.cells[static_cast<size_t>(cell.compute)];
    const auto measured = by_shape.find(cell.shape);
    if (measured == by_shape.end()) continue;
    const VisMethod chosen = choose(cell);
    const std::optional<double> chosen_s = time_of(measured->second, chosen);
    if (!chosen_s) continue;
    double best_s = *chosen_s;
    VisMethod best = chosen;
    for (size_t m = 0; m < plan::kVisMethods; ++m) {
      const auto time_s = time_of(measured->second, static_cast<VisMethod>(m));
      if (!time_s || *time_s >= best_s) continue;
      best_s = *time_s;
      best = static_cast<VisMethod>(m);
    }
    const double lost = *chosen_s / best_s - 1;
    sum += lost;
    ++regret.cells;
    if (best == chosen) ++regret.best;
    if (lost <= regret.worst) continue;
    regret.worst = lost;
    regret.worst_cell = cell.text() + " (" + std::string(to_string(chosen)) + " instead of " +
                        std::string(to_string(best)) + ")";
  }
  if (regret.cells > 0) regret.mean = sum / static_cast<double>(regret.cells);
  return regret;
}

}  // namespace stripline::suites::results
