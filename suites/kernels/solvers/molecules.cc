// kernel.molecules: particles that act on their neighbours, as MOLDYN moves them: each rank has
// those of a compact part of space, and lists of neighbours are good for some steps.
#include <algorithm>
#include <array>
#include <cmath>

#include "suites/grids.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/particles/particles.h"
#include "suites/kernels/solvers/gather_variants.h"

namespace stripline::suites {
namespace {

using particles::NeighbourLists;
using particles::Vector;
using Positions = RepeatedReads<Vector>::Array;

constexpr const char* kCellsFactor = "cells";
constexpr const char* kStepsFactor = "steps";
constexpr const char* kListsFactor = "steps_of_lists";
constexpr double kTolerance = 1e-9;
constexpr uint64_t kBeginnings = 2;

// All particles as the ranks have them: those of rank 0 first, and so on.
std::vector<Vector> particles_by_rank(uint64_t cells, std::span<const size_t> sizes) {
  const std::vector<Vector> lattice = particles::make_lattice(cells);
  std::vector<Vector> by_rank;
  by_rank.reserve(lattice.size());
  for (const uint32_t number : particles::bisect(lattice, sizes))
    by_rank.push_back(lattice[number]);
  return by_rank;
}

// The particle of a rank that each entry of its lists belongs to.
std::vector<uint32_t> particle_of_entries(const NeighbourLists& lists) {
  std::vector<uint32_t> particle(lists.neighbour.size());
  for (size_t i = 0; i + 1 < lists.begin.size(); ++i) {
    for (size_t k = lists.begin[i]; k < lists.begin[i + 1]; ++k) {
      particle[k] = static_cast<uint32_t>(i);
    }
  }
  return particle;
}

// Where they are after this number of steps.
std::vector<Vector> go_alone(std::vector<Vector> at, double side, uint64_t salt, size_t steps,
                             size_t steps_of_lists) {
  std::vector<Vector> velocity(at.size());
  for (size_t i = 0; i < at.size(); ++i) velocity[i] = particles::first_velocity(i, salt);
  NeighbourLists lists;
  std::vector<Vector> force(at.size());
  for (size_t step = 0; step < steps; ++step) {
    if (step % steps_of_lists == 0) lists = particles::find_neighbours(at, side, 0, at.size());
    for (size_t i = 0; i < at.size(); ++i) {
      force[i] = {};
      for (size_t k = lists.begin[i]; k < lists.begin[i + 1]; ++k) {
        force[i] += particles::force(at[i], at[lists.neighbour[k]], side);
      }
    }
    for (size_t i = 0; i < at.size(); ++i) particles::move(at[i], velocity[i], force[i]);
  }
  return at;
}

// The particles of a rank.
class Molecules {
 public:
  Molecules(const Positions& positions, double side, GatherVariant variant, GatherTimes& times)
      : positions_(positions),
        own_(positions.local_span()),
        first_(own_.empty() ? positions.size() : positions.index_of(0)),
        side_(side),
        variant_(variant),
        times_(times),
        velocity_(own_.size()),
        force_(own_.size()),
        all_(positions.size()) {}

  void begin(std::span<const Vector> by_rank, uint64_t salt) {
    for (size_t i = 0; i < own_.size(); ++i) {
      own_[i] = by_rank[first_ + i];
      velocity_[i] = particles::first_velocity(first_ + i, salt);
    }
    release();
  }

  /// Errors as GatherPlan::create(), on all ranks.
  Status go(size_t steps, size_t steps_of_lists) {
    double waited_s = 0;
    for (size_t step = 0; step < steps; ++step) {
      if (step % steps_of_lists == 0) {
        if (reads_) waited_s += reads_->waited_s();
        STRIPLINE_RETURN_IF_ERROR(look_around());
      }
      std::ranges::fill(force_, Vector{});
      reads_->for_each([&](size_t k, const Vector& there) {
        const uint32_t particle = particle_[k];
        force_[particle] += particles::force(own_[particle], there, side_);
      });
      for (size_t i = 0; i < own_.size(); ++i) particles::move(own_[i], velocity_[i], force_[i]);
      if (Work* const work = positions_.context().work()) {
        const auto count = static_cast<double>(own_.size());
        work->compute(12 * count, 120 * count);
      }
    }
    times_.add(waited_s + (reads_ ? reads_->waited_s() : 0), steps);
    return {};
  }

  void release() { reads_.reset(); }

 private:
  // Finds who is near whom, for which every rank looks at all particles.
  Status look_around() {
    Context& context = positions_.context();
    release();
    context.barrier();
    positions_.read_range(0, positions_.size(), all_.data());
    const NeighbourLists lists =
        particles::find_neighbours(all_, side_, first_, first_ + own_.size());
    particle_ = particle_of_entries(lists);
    if (Work* const work = context.work()) {
      // Some 27 cells of which a sixth is within reach.
      work->compute(6.0 * 10 * static_cast<double>(lists.neighbour.size()),
                    40 * static_cast<double>(all_.size()));
    }
    constexpr WorkOfRead kNeighbour{.flops = particles::kForceFlops, .bytes = 32};
    STRIPLINE_ASSIGN_OR_RETURN(
        reads_, RepeatedReads<Vector>::create(positions_, lists.neighbour, variant_, kNeighbour));
    times_.add_inspection(reads_->inspection_s());
    context.barrier();  // all have read
    return {};
  }

  Positions positions_;
  std::span<Vector> own_;
  uint64_t first_;
  double side_;
  GatherVariant variant_;
  GatherTimes& times_;
  std::vector<Vector> velocity_;
  std::vector<Vector> force_;
  std::vector<Vector> all_;
  std::vector<uint32_t> particle_;  // of each entry of the lists
  std::optional<RepeatedReads<Vector>> reads_;
};

Result<experiment::SampleSeries> run_molecules(Session& session, const experiment::Point& point,
                                               const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const uint64_t cells = size_param(point, kCellsFactor);
  const size_t steps = size_param(point, kStepsFactor);
  const size_t steps_of_lists = size_param(point, kListsFactor);
  const double side = particles::side_of(cells);
  const uint64_t count = 4 * cells * cells * cells;
  STRIPLINE_ASSIGN_OR_RETURN(Positions positions,
                             Positions::create(ctx, count, blocked(count, ctx.rank_n())));
  std::vector<size_t> sizes;
  for (rank_t rank = 0; rank < ctx.rank_n(); ++rank) sizes.push_back(positions.local_size(rank));
  const std::vector<Vector> by_rank = particles_by_rank(cells, sizes);
  // Rank 0 alone compares: what takes longer than the kernel itself is not done by all.
  std::array<std::vector<Vector>, kBeginnings> expected;
  if (ctx.rank_me() == 0) {
    for (uint64_t salt = 0; salt < kBeginnings; ++salt) {
      expected[salt] = go_alone(by_rank, side, salt, steps, steps_of_lists);
    }
  }
  GatherTimes times;
  Molecules molecules(positions, side, gather_variant_of(point), times);
  Status went;
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) { molecules.begin(by_rank, salt % kBeginnings); };
  parts.run = [&] {
    if (went.ok()) went = molecules.go(steps, steps_of_lists);
  };
  parts.verify = [&](uint64_t salt) {
    ctx.barrier();
    bool right = went.ok();
    if (right && ctx.rank_me() == 0) {
      std::vector<Vector> all(count);
      positions.read_range(0, count, all.data());
      const std::vector<Vector>& there = expected[salt % kBeginnings];
      for (size_t i = 0; i < count; ++i) {
        const Vector wrong = particles::between(all[i], there[i], side);
        right = right && std::hypot(wrong.x, wrong.y, wrong.z) <= kTolerance;
      }
    }
    ctx.barrier();
    return right;
  };
  parts.scale = 1 / static_cast<double>(steps);
  experiment::SampleSeries series = measure_kernel(session, rule, parts);
  molecules.release();
  ctx.barrier();
  positions.destroy();
  if (!went.ok()) return went.error();
  series.note = series.verified ? times.note(ctx) : kWrongResult;
  return series;
}

}  // namespace

Benchmark molecules_benchmark() {
  return gather_benchmark(
      {.known = experiment::kernels::kMolecules,
       .run = run_molecules,
       .title = "Particles that act on their neighbours",
       .description =
           "Particles of a liquid lie on the ranks by recursive bisection of space; each step adds "
           "up what the neighbours of each do to it, by lists that are rebuilt after some steps.",
       .factors =
           {integer_factor(kCellsFactor, "1",
                           "Cells on each side of the cube, of four particles each.", {12}, 1, 64),
            integer_factor(kStepsFactor, "1", "Steps in a repetition; a sample is the time of one.",
                           {40}, 1, 1000),
            integer_factor(kListsFactor, "1", "Steps that a list is used for.", {20}, 1, 1000)},
       .metric = {"time_per_step", "s", true},
       .verification = "Rank 0 compares the places of all particles with those that it has "
                       "computed alone, to 1e-9, in every repetition."});
}

}  // namespace stripline::suites
