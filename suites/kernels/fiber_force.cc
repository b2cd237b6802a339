// kernel.fiber_force: points on a sphere exert forces on a grid that is spread over all ranks.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "suites/grids.h"
#include "suites/kernels/force_updates.h"
#include "suites/kernels/kernels.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

constexpr const char* kGridFactor = "n";
constexpr const char* kPointsFactor = "points_per_rank";

constexpr size_t kReach = 4;  // cells that a point affects, along each axis
using Row = Force<kReach>;

struct FiberPoint {
  std::array<uint32_t, 3> cell;  // the first one that it affects
  double force;
};

/// A sphere that fills the grid, in slices of equal points: those of a rank are where its planes
/// are, nearly, as a partitioner would have it.
class Sphere {
 public:
  Sphere(size_t n, size_t points, rank_t ranks)
      : n_(n), points_(points), ranks_(ranks), planes_((n + ranks - 1) / ranks) {
    for (size_t i = 0; i < weights_.size(); ++i) weights_[i] = static_cast<double>(1 + i % 7);
  }

  /// Doubles of a rank: as many planes each.
  size_t own() const { return planes_ * n_ * n_; }

  /// The points of one rank, or of all; others are made when they are asked for.
  void keep(rank_t first, rank_t ranks) {
    first_ = first * points_;
    kept_.clear();
    for (size_t i = first_; i < first_ + ranks * points_; ++i) kept_.push_back(point(i));
  }
  void move(uint64_t salt) {
    for (size_t i = 0; i < kept_.size(); ++i) kept_[i].force = force(first_ + i, salt);
  }

  template <typename Add>
  void spread(size_t item, size_t rows, const Add& add) const {
    spread(kept_[item - first_], rows, add);
  }

  /// Whole numbers, whose sums are exact in any order.
  bool verify(rank_t owner, uint64_t salt, const ForceWork& made,
              std::span<const double> forces) const {
    std::vector<double> expected(forces.size());
    const size_t begin = owner * planes_;
    for (rank_t rank = 0; rank < ranks_; ++rank) {
      const auto [lowest, highest] = planes_of(rank);
      if (lowest >= begin + planes_ || highest + kReach <= begin) continue;
      for (size_t i = 0; i < made.items; ++i) {
        FiberPoint one = point(rank * points_ + i);
        one.force = force(rank * points_ + i, salt);
        spread(one, made.updates, [&](rank_t of, size_t first, const Row& row) {
          if (of != owner) return;
          for (size_t k = 0; k < kReach; ++k) expected[first + k] += row[k];
        });
      }
    }
    return std::ranges::equal(forces, expected);
  }

 private:
  static double unit(uint64_t random) { return static_cast<double>(random >> 11U) * 0x1p-53; }
  static double force(size_t index, uint64_t salt) {
    return static_cast<double>(1 + (index + salt) % 16);
  }

  // Points that are spread evenly over a sphere are so along any axis, too.
  FiberPoint point(size_t index) const {
    const size_t rank = index / points_;
    const double along =
        (static_cast<double>(rank) + unit(hash_of(index, 1U))) / static_cast<double>(ranks_);
    const double height = 2 * along - 1;
    const double angle = 2 * std::numbers::pi * unit(hash_of(index, 2U));
    const double around = std::sqrt(std::max(0.0, 1 - height * height));
    const auto coordinate = [this](double part) {
      return static_cast<uint32_t>(static_cast<double>(n_ - kReach) * (part + 1) / 2);
    };
    return {{coordinate(height), coordinate(around * std::cos(angle)),
             coordinate(around * std::sin(angle))},
            0};
  }

  // The first planes that points of a rank affect.
  std::array<size_t, 2> planes_of(rank_t rank) const {
    const double each = static_cast<double>(n_ - kReach) / static_cast<double>(ranks_);
    return {static_cast<size_t>(each * rank), static_cast<size_t>(each * (rank + 1))};
  }

  template <typename Add>
  void spread(const FiberPoint& point, size_t rows, const Add& add) const {
    for (size_t plane = 0; plane < kReach && plane * kReach < rows; ++plane) {
      const size_t x = point.cell[0] + plane;
      const auto owner = static_cast<rank_t>(x / planes_);
      const size_t first = ((x - owner * planes_) * n_ + point.cell[1]) * n_ + point.cell[2];
      for (size_t y = 0; y < kReach && plane * kReach + y < rows; ++y) {
        Row row;
        const double* const weights = &weights_[(plane * kReach + y) * kReach];
        for (size_t z = 0; z < kReach; ++z) row[z] = point.force * weights[z];
        add(owner, first + y * n_, row);
      }
    }
  }

  size_t n_;
  size_t points_;
  rank_t ranks_;
  size_t planes_;
  std::array<double, kReach * kReach * kReach> weights_{};
  size_t first_ = 0;
  std::vector<FiberPoint> kept_;
};

Result<SampleSeries> run_fiber_force(Session& session, const experiment::Point& point,
                                     const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const UpdateVariant variant = update_variant_of(point);
  STRIPLINE_ASSIGN_OR_RETURN(const UpdateOptions options, update_options_of(ctx, point));
  const size_t points = size_param(point, kPointsFactor);
  Sphere sphere(size_param(point, kGridFactor), points, ctx.rank_n());
  if (variant == UpdateVariant::sequential) {
    sphere.keep(0, ctx.rank_me() == 0 ? ctx.rank_n() : 0);
  } else {
    sphere.keep(ctx.rank_me(), 1);
  }
  using Forces = ForceUpdates<kReach>;
  STRIPLINE_ASSIGN_OR_RETURN(
      Forces forces, Forces::create(ctx, variant, sphere.own(),
                                    {.items = points,
                                     .updates = kReach * kReach,
                                     .update_flops = 2 * kReach,
                                     .update_bytes = sizeof(FiberPoint) / double{kReach * kReach}},
                                    options));
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    sphere.move(salt);
    forces.clear();
  };
  parts.run = [&] {
    forces.run(
        [&sphere](size_t item, size_t rows, const auto& add) { sphere.spread(item, rows, add); });
  };
  parts.verify = [&](uint64_t salt) {
    return forces.verify([&](rank_t owner, std::span<const double> of_owner) {
      return sphere.verify(owner, salt, forces.work(), of_owner);
    });
  };
  return forces.measure(session, rule, std::move(parts));
}

}  // namespace

Benchmark fiber_force_benchmark() {
  return declare(
      {.known = kernels::kFiberForce,
       .run = run_fiber_force,
       .title = "Forces of points on a grid over all ranks",
       .description =
           "Points on a sphere each add to the 4 x 4 x 4 cells around them, on a grid whose planes "
           "are dealt out to the ranks in slabs (Su, section 5.4). A rank's points are where its "
           "planes are, so that most of what they affect is its own or its neighbours'. Four cells "
           "side by side are one update, and a run of UpdateEpoch. Variants, their limits and "
           "samples are those of kernel.gravitation; kernel.spread_force does the same on the "
           "cores of a node.",
       .factors = joined(
           {integer_factor(kGridFactor, "1", "Cells of the grid along each axis.", {128, 64, 256},
                           16, 512),
            integer_factor(kPointsFactor, "1", "Points of a rank.", {10000, 1000}, 1, 1 << 22)},
           buffer_factors()),
       .metric = {"time_per_update", "s", true},
       .min_ranks = 1,
       .verification = "Every cell is compared with a sum over all points, in every repetition."});
}

}  // namespace stripline::suites
