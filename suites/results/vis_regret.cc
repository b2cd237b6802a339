#include "suites/results/vis_regret.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "suites/harness/paired_regret.h"
#include "suites/registry.h"

namespace stripline::suites::results {
namespace {

using experiment::Point;
using plan::ComputeClass;
using plan::Direction;
using plan::VisMethod;

// Between those of micro.vis, and one beyond them.
constexpr uint64_t kRegionBytes[] = {16, 32, 128, 256, 1024, 2048, 8192};
constexpr uint64_t kDataBytes[] = {4 << 10, 32 << 10, 128 << 10};
constexpr uint64_t kMostRegions = 2048;  // as micro.vis
constexpr uint64_t kStride = 2;
constexpr int64_t kIovLimit = 4;  // libfabric's tcp provider and the emulated networks

// Runs of one method, which was measured under one setting; null if it was not.
const fit::RunMedians* runs_of(const fit::VisTimes& times, VisMethod method) {
  const auto& settings = times.methods[static_cast<size_t>(method)];
  return settings.empty() ? nullptr : &settings.begin()->second;
}

VisRegret summary_of(std::vector<CellRegret> cells) {
  VisRegret regret;
  for (const CellRegret& one : cells) {
    regret.mean += std::max(0.0, one.value);
    if (!one.lost()) {
      ++regret.best;
    } else if (one.value > regret.worst) {
      regret.worst = one.value;
      regret.worst_low = one.low;
      regret.worst_high = one.high;
      regret.worst_cell = one.cell.text() + " (" + std::string(to_string(one.chosen)) +
                          " instead of " + std::string(to_string(one.best)) + ")";
    }
  }
  if (!cells.empty()) regret.mean /= static_cast<double>(cells.size());
  regret.cells = std::move(cells);
  return regret;
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
      for (const uint64_t region_bytes : kRegionBytes) {
        for (const uint64_t data_bytes : kDataBytes) {
          const uint64_t regions = data_bytes / region_bytes;
          if (regions < 2 || regions > kMostRegions) continue;
          if (quick && regions > 64) continue;
          cells.push_back({{direction, region_bytes, regions, kStride}, compute});
        }
      }
    }
  }
  return cells;
}

plan::VisRequest request_of_cell(const VisCell& cell) {
  plan::VisRequest request = fit::request_of(cell.shape, cell.compute, plan::kLandingSlotBytes);
  request.iov_limit = static_cast<uint32_t>(kIovLimit);
  return request;
}

std::vector<Point> vis_points(const VisCell& cell, const plan::VisCosts* costs) {
  std::vector<Point> points;
  const auto add = [&](std::string_view variant, uint64_t chunk_bytes, uint32_t window) {
    Point point{micro::kVis.name, std::string(variant), {}};
    point.params["direction"] = std::string(to_string(cell.shape.direction));
    point.params["class"] = std::string(to_string(cell.compute));
    point.params["region_bytes"] = static_cast<int64_t>(cell.shape.region_bytes);
    point.params["bytes"] = static_cast<int64_t>(cell.shape.region_bytes * cell.shape.regions);
    point.params["stride"] = static_cast<int64_t>(cell.shape.stride);
    point.params["chunk_bytes"] = static_cast<int64_t>(chunk_bytes);
    point.params["window"] = static_cast<int64_t>(window);
    point.params["iov_limit"] = kIovLimit;
    points.push_back(std::move(point));
  };
  const plan::VisRequest request = request_of_cell(cell);
  for (size_t m = 0; m < plan::kVisMethods; ++m) {
    const auto method = static_cast<VisMethod>(m);
    if (method == VisMethod::bounding_box && cell.shape.direction == Direction::put) continue;
    // One that the request does not allow is carried out as another, whatever the point asks for.
    const plan::VisPlan plan = plan::force_vis(request, costs, method, 0, 0);
    const bool packs = plan.method == method && method == VisMethod::packed;
    add(to_string(method), packs ? plan.chunk_bytes : plan::kLandingSlotBytes, plan.window);
  }
  if (cell.compute != ComputeClass::communication_only) {
    add(experiment::variant::kCompute, plan::kLandingSlotBytes, 0);
  }
  return points;
}

std::optional<CellRegret> cell_regret(const VisCell& cell, const fit::VisTimes& times,
                                      VisMethod chosen) {
  const fit::RunMedians* const of_chosen = runs_of(times, chosen);
  if (of_chosen == nullptr) return std::nullopt;
  std::set<uint32_t> common;
  for (const auto& [run, seconds] : *of_chosen) common.insert(run);
  for (size_t m = 0; m < plan::kVisMethods; ++m) {
    const fit::RunMedians* const runs = runs_of(times, static_cast<VisMethod>(m));
    if (runs == nullptr) continue;
    std::erase_if(common, [&](uint32_t run) {
      const auto found = runs->find(run);
      return found == runs->end() || !(found->second > 0);
    });
  }
  if (common.size() < 2) return std::nullopt;
  std::vector<VisMethod> methods;
  std::vector<std::vector<double>> log_times;
  for (size_t m = 0; m < plan::kVisMethods; ++m) {
    const fit::RunMedians* const runs = runs_of(times, static_cast<VisMethod>(m));
    if (runs == nullptr) continue;
    methods.push_back(static_cast<VisMethod>(m));
    log_times.emplace_back();
    for (const uint32_t run : common) log_times.back().push_back(std::log(runs->at(run)));
  }
  const auto ours = static_cast<size_t>(std::ranges::find(methods, chosen) - methods.begin());
  const auto regret = paired_regret(log_times, ours);
  if (!regret) return std::nullopt;
  return CellRegret{cell,
                    chosen,
                    methods[regret->best],
                    std::expm1(regret->value),
                    std::expm1(regret->low),
                    std::expm1(regret->high)};
}

VisRegret vis_regret(const std::vector<VisCell>& cells, const fit::VisSamples& samples,
                     const std::function<VisMethod(const VisCell&)>& choose) {
  std::vector<CellRegret> judged;
  for (const VisCell& cell : cells) {
    const auto& by_shape = samples.cells[static_cast<size_t>(cell.compute)];
    const auto measured = by_shape.find(cell.shape);
    if (measured == by_shape.end()) continue;
    const auto one = cell_regret(cell, measured->second, choose(cell));
    if (one) judged.push_back(*one);
  }
  return summary_of(std::move(judged));
}

std::vector<VisCell> suspects(const VisRegret& regret, double bound) {
  std::vector<VisCell> cells;
  for (const CellRegret& one : regret.cells) {
    if (one.high > bound) cells.push_back(one.cell);
  }
  return cells;
}

VisRegret confirmed(const VisRegret& regret, const VisRegret& again) {
  std::vector<CellRegret> cells = regret.cells;
  for (CellRegret& one : cells) {
    const auto found = std::find_if(again.cells.begin(), again.cells.end(), [&](const auto& other) {
      return other.cell.text() == one.cell.text();
    });
    if (found != again.cells.end()) one = *found;
  }
  return summary_of(std::move(cells));
}

}  // namespace stripline::suites::results
