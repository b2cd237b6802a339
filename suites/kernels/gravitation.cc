// kernel.gravitation: bodies of all ranks, each of which pulls at every other one.
#include <algorithm>
#include <array>
#include <cmath>
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

constexpr const char* kBodiesFactor = "bodies_per_rank";

constexpr size_t kAxes = 3;
using Pull = Force<kAxes>;

struct Body {
  std::array<double, kAxes> place;
  double mass;
};

// What a pull computes: a distance, its square, the root, a factor, and three parts, which are
// added up.
constexpr double kPullFlops = 3 + 6 + 1 + 4 + 3 + 3;

/// All bodies, on every rank: a force is added where its body's owner keeps it.
class Bodies {
 public:
  Bodies(size_t own, rank_t ranks) : own_(own), ranks_(ranks), bodies_(own * ranks) {}

  void scatter(uint64_t salt) {
    SplitMix64 random(salt);
    const auto unit = [&] { return static_cast<double>(random.next() >> 11U) * 0x1p-53; };
    for (Body& body : bodies_) {
      for (double& coordinate : body.place) coordinate = unit();
      body.mass = 1 + unit();
    }
  }

  /// The first `updates` pulls of a body, at its own rank's bodies first.
  template <typename Add>
  void pull(size_t item, size_t updates, const Add& add) const {
    for (rank_t k = 0; k < ranks_ && k * own_ < updates; ++k) {
      const auto owner = static_cast<rank_t>((item / own_ + k) % ranks_);
      pull_at(owner, item, std::min(own_, updates - k * own_), add);
    }
  }

  /// Whether an owner's forces are those of the first `updates` pulls of the first `items` bodies
  /// of each rank, but for how sums round.
  bool verify(rank_t owner, const ForceWork& made, std::span<const double> forces) const {
    std::vector<double> expected(forces.size());
    std::vector<double> size(forces.size());
    const auto add = [&](rank_t /*owner*/, size_t first, const Pull& pull) {
      for (size_t axis = 0; axis < kAxes; ++axis) {
        expected[first + axis] += pull[axis];
        size[first + axis] += std::abs(pull[axis]);
      }
    };
    for (rank_t rank = 0; rank < ranks_; ++rank) {
      const size_t before = (owner + ranks_ - rank) % ranks_ * own_;
      if (before >= made.updates) continue;
      for (size_t i = 0; i < made.items; ++i) {
        pull_at(owner, rank * own_ + i, std::min(own_, made.updates - before), add);
      }
    }
    constexpr double kRounding = 1e-12;
    for (size_t i = 0; i < forces.size(); ++i) {
      if (!(std::abs(forces[i] - expected[i]) <= kRounding * size[i])) return false;
    }
    return true;
  }

 private:
  template <typename Add>
  void pull_at(rank_t owner, size_t item, size_t count, const Add& add) const {
    const Body body = bodies_[item];
    for (size_t m = 0; m < count; ++m) {
      const Body& other = bodies_[owner * own_ + m];
      Pull pull;
      double square = kSoftening;
      for (size_t axis = 0; axis < kAxes; ++axis) {
        pull[axis] = body.place[axis] - other.place[axis];
        square += pull[axis] * pull[axis];
      }
      const double factor = body.mass * other.mass / (square * std::sqrt(square));
      for (double& part : pull) part *= factor;
      add(owner, kAxes * m, pull);
    }
  }

  // Added to squares of distances, so that bodies may meet, and do not pull at themselves.
  static constexpr double kSoftening = 1e-4;

  size_t own_;
  rank_t ranks_;
  std::vector<Body> bodies_;
};

Result<SampleSeries> run_gravitation(Session& session, const experiment::Point& point,
                                     const experiment::StopRule& rule) {
  Context& ctx = session.context();
  STRIPLINE_ASSIGN_OR_RETURN(const UpdateOptions options, update_options_of(ctx, point));
  const size_t own = size_param(point, kBodiesFactor);
  Bodies bodies(own, ctx.rank_n());
  using Forces = ForceUpdates<kAxes>;
  STRIPLINE_ASSIGN_OR_RETURN(Forces forces,
                             Forces::create(ctx, update_variant_of(point), kAxes * own,
                                            {.items = own,
                                             .updates = own * ctx.rank_n(),
                                             .update_flops = kPullFlops,
                                             .update_bytes = sizeof(Body)},
                                            options));
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    bodies.scatter(salt);
    forces.clear();
  };
  parts.run = [&] {
    forces.run([&bodies](size_t item, size_t updates, const auto& add) {
      bodies.pull(item, updates, add);
    });
  };
  parts.verify = [&](uint64_t /*salt*/) {
    return forces.verify([&](rank_t owner, std::span<const double> of_owner) {
      return bodies.verify(owner, forces.work(), of_owner);
    });
  };
  return forces.measure(session, rule, std::move(parts));
}

}  // namespace

Benchmark gravitation_benchmark() {
  return declare(
      {.known = kernels::kGravitation,
       .run = run_gravitation,
       .title = "Gravitation between the bodies of all ranks",
       .description =
           "Every rank has as many bodies, whose places all ranks know, and each of them pulls at "
           "every body: three numbers are added to the force that the body's owner keeps (Su, "
           "section 5.4). lock gets a force, adds and puts it back under one lock; atomics adds "
           "three numbers by an atomic_domain; by_hand collects forces by owner and exchanges them "
           "with all_to_all_v, 65536 at a time; tuned is UpdateEpoch, to which they are a run. "
           "lock and atomics carry out at most 1000 updates a rank. In sequential rank 0 "
           "alone makes the updates of all, on memory of its own. A sample is the time of a rank's "
           "updates, divided by their number, so that the ratio of sequential to another variant "
           "is that variant's speed-up.",
       .factors =
           joined({integer_factor(kBodiesFactor, "1", "Bodies of a rank.", {64, 1024}, 1, 1 << 16)},
                  buffer_factors()),
       .metric = {"time_per_update", "s", true},
       .min_ranks = 1,
       .verification = "Every force is computed again by its owner in every repetition, and may "
                       "differ by the rounding of its sum."});
}

}  // namespace stripline::suites
