// kernel.spread_force: points on a sphere, each of which exerts forces on the cells around it.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stripline/shared_updates.h>

#include "base/random.h"
#include "suites/grids.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/shared_team.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;
using Updates = SharedUpdates<double, op_add>;

constexpr const char* kGridFactor = "n";
constexpr const char* kPointsFactor = "points";
constexpr const char* kIntervalFactor = "sort_interval";
constexpr const char* kWrongForces = "verification failed: a force is wrong";

constexpr uint64_t kReach = 4;  // cells that a point affects, along each axis
constexpr size_t kPatchCells = kReach * kReach * kReach;
using Patch = std::array<double, kPatchCells>;

// Whole numbers, so that sums are exact in any order.
Patch make_weights() {
  Patch weights;
  for (size_t i = 0; i < kPatchCells; ++i) weights[i] = static_cast<double>(1 + i % 7);
  return weights;
}

struct FiberPoint {
  std::array<double, 3> place;  // of the first cell that it affects
  double force;
};

grid_cell corner_of(const FiberPoint& point) {
  return {static_cast<uint64_t>(point.place[0]), static_cast<uint64_t>(point.place[1]),
          static_cast<uint64_t>(point.place[2])};
}

double unit(SplitMix64& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

// The sphere fills half of the grid, and its points come in no order.
void put_on_sphere(std::span<FiberPoint> points, double n) {
  SplitMix64 random(0x5b);
  const double middle = (n - static_cast<double>(kReach)) / 2;
  const double radius = n / 4;
  for (FiberPoint& point : points) {
    const double height = 2 * unit(random) - 1;
    const double angle = 2 * std::numbers::pi * unit(random);
    const double around = std::sqrt(1 - height * height);
    point.place = {middle + radius * height, middle + radius * around * std::cos(angle),
                   middle + radius * around * std::sin(angle)};
    point.force = static_cast<double>(1 + random.next() % 16);
  }
}

class Spreading {
 public:
  Spreading(worker_team& team, uint64_t n, std::span<double> grid, std::span<FiberPoint> points,
            Updates& updates, bool arranges)
      : team_(team),
        shape_{n, n, n},
        grid_(grid),
        points_(points),
        updates_(updates),
        arranges_(arranges) {
    if (team.index() == 0) put_on_sphere(points, static_cast<double>(n));
    team.barrier();
  }

  // The sphere moves by a hundredth of a cell, up and down.
  void prepare(uint64_t salt) {
    updates_.fill(0);
    const double step = salt / 16 % 2 == 0 ? 0.01 : -0.01;
    for (FiberPoint& point : part()) point.place[0] += step;
  }

  void run() {
    const std::span<const FiberPoint> mine =
        arranges_ ? updates_.arrange(points_, corner_of, {kReach, kReach, kReach}) : part();
    Patch patch;
    for (const FiberPoint& point : mine) {
      for (size_t i = 0; i < kPatchCells; ++i) patch[i] = point.force * weights_[i];
      updates_.spread<kReach, kReach, kReach>(corner_of(point), patch.data());
    }
    updates_.finish();
  }

  // Each worker the cells of an equal part of the planes.
  bool verify() const {
    const plan::Slab slab = plan::equal_slabs(team_.count(), shape_.x, 1)[team_.index()];
    const size_t plane = shape_.y * shape_.z;
    std::vector<double> expected((slab.x_end - slab.x_first) * plane, 0.0);
    for (const FiberPoint& point : points_) {
      const grid_cell corner = corner_of(point);
      for (uint64_t i = 0; i < kPatchCells; ++i) {
        const uint64_t x = corner.x + i / kReach / kReach;
        if (x < slab.x_first || x >= slab.x_end) continue;
        const uint64_t y = corner.y + i / kReach % kReach;
        expected[(x - slab.x_first) * plane + y * shape_.z + corner.z + i % kReach] +=
            point.force * weights_[i];
      }
    }
    return std::ranges::equal(grid_.subspan(slab.x_first * plane, expected.size()), expected);
  }

 private:
  std::span<FiberPoint> part() const {
    const size_t begin = points_.size() * team_.index() / team_.count();
    const size_t end = points_.size() * (team_.index() + 1) / team_.count();
    return points_.subspan(begin, end - begin);
  }

  worker_team& team_;
  grid_extent shape_;
  std::span<double> grid_;
  std::span<FiberPoint> points_;
  Updates& updates_;
  bool arranges_;
  Patch weights_ = make_weights();
};

Result<SampleSeries> run_spread_force(Session& session, const experiment::Point& point,
                                      const experiment::StopRule& rule) {
  STRIPLINE_ASSIGN_OR_RETURN(const NodeTeam node, join_node_team(session));
  if (node.team == nullptr) return SampleSeries{};  // on another node
  worker_team& team = *node.team;
  const uint64_t n = size_param(point, kGridFactor);
  const size_t count = size_param(point, kPointsFactor);
  STRIPLINE_ASSIGN_OR_RETURN(const auto grid, team_array<double>::create(team, n * n * n));
  STRIPLINE_ASSIGN_OR_RETURN(const auto points, team_array<FiberPoint>::create(team, count));
  SharedUpdatesOptions options = shared_options(point);
  options.sort_interval = size_param(point, kIntervalFactor);
  options.replica_bytes = size_t{128} << 20;
  STRIPLINE_ASSIGN_OR_RETURN(Updates updates,
                             Updates::create(team, grid.all().data(), {n, n, n}, options));
  const bool arranges = point.variant == "adaptive" || point.variant == "boxes";
  Spreading spreading(team, n, grid.all(), points.all(), updates, arranges);

  KernelParts parts;
  parts.prepare = [&](uint64_t salt) { spreading.prepare(salt); };
  parts.run = [&] { spreading.run(); };
  parts.verify = [&](uint64_t) { return spreading.verify(); };
  parts.scale = team.count() / static_cast<double>(count * kPatchCells);
  SampleSeries series = measure_kernel(*node.session, rule, parts);
  series.note = series.verified ? shared_note(updates.state()) : kWrongForces;
  return series;
}

}  // namespace

Benchmark spread_force_benchmark() {
  ExperimentRow row = {
      .known = kernels::kSpreadForce,
      .run = run_spread_force,
      .title = "Forces of points on a grid, by the ranks of a node",
      .description =
          "Points on a sphere each add to the 4 x 4 x 4 cells around them, on a grid that the "
          "ranks of rank 0's node share by loads and stores (Su, section 6.6.2): cell by cell "
          "under a lock for each cache line (locked), by atomic operations (atomic), on grids of "
          "their own that are added up at the end (replicate), on mirrors of equal slabs "
          "(mirror), or with points in order: on slabs with as many points each, and in boxes "
          "beside them (boxes). adaptive has SharedUpdates choose among all these, and when to "
          "sort. The sphere moves a little between repetitions. A sample is the time of a rank's "
          "updates of cells, sorting and adding up included, divided by their mean number.",
      .variants = {"locked", "atomic", "replicate", "mirror", "boxes", "adaptive"},
      .metric = {"time_per_update", "s", true},
      .verification = "Every cell is compared with a sum over all points, in every repetition."};
  // Within the row they make GCC 12 warn falsely of what is not initialised.
  row.factors = {
      integer_factor(kGridFactor, "1", "Cells of the grid along each axis.", {128, 64, 256}, 16,
                     256),
      integer_factor(kPointsFactor, "1", "Points of all ranks together.",
                     {1 << 17, 1 << 14, 1 << 20}, 1, 1 << 22),
      integer_factor(kIntervalFactor, "1", "Repetitions between sorts; 0: as predicted to be best.",
                     {0, 10, 100}, 0, 1 << 20),
      shared_memory_factor()};
  return declare(std::move(row));
}

}  // namespace stripline::suites
