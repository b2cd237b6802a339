// kernel.fish: forces between all pairs of bodies (Alvanos et al., section 4: Fish).
#include "base/random.h"
#include "suites/kernels/indirect/indirect_variants.h"
#include "suites/kernels/kernels.h"

namespace stripline::suites {
namespace {

constexpr const char* kBodiesFactor = "bodies_per_rank";

struct Fish {
  double x = 0;
  double y = 0;
  double speed = 0;
  double mass = 0;
};
// Small whole numbers, so that sums are exact in any order.
Fish fish_of(uint64_t number, uint64_t salt) {
  const uint64_t random = hash_of(number, salt);
  return {static_cast<double>(random % 64), static_cast<double>(random / 64 % 64), 1,
          static_cast<double>(1 + random / 4096 % 16)};
}
// Attraction that grows with the distance, which keeps it whole.
struct Force {
  double x = 0;
  double y = 0;
  void add(const Fish& at, double x_there, double y_there, double mass) {
    x += mass * (x_there - at.x);
    y += mass * (y_there - at.y);
  }
  friend bool operator==(const Force&, const Force&) = default;
};

Result<experiment::SampleSeries> run_fish(Session& session, const experiment::Point& point,
                                          const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const size_t bodies = size_param(point, kBodiesFactor);
  const uint64_t all = bodies * ctx.rank_n();
  const bool together = indirect_variant_of(point) == IndirectVariant::tuned;
  // All would begin with the bodies of rank 0.
  const IndirectOptions options = indirect_options_of(point, together);
  using School = shared_array<Fish, block_cyclic<>>;
  STRIPLINE_ASSIGN_OR_RETURN(School school, School::create(ctx, all, blocked(all, ctx.rank_n())));
  std::vector<Force> forces(bodies);
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    const std::span<Fish> mine = school.local_span();
    for (size_t i = 0; i < mine.size(); ++i) mine[i] = fish_of(school.index_of(i), salt);
    std::ranges::fill(forces, Force{});
  };
  parts.run = [&] {
    const auto itself = [](int64_t j) { return j; };
    const IndirectRange others = range(0, static_cast<int64_t>(all));
    for (size_t i = 0; i < bodies; ++i) {
      const auto add = [&, at = school.local_span()[i]](int64_t, double x, double y, double mass) {
        forces[i].add(at, x, y, mass);
      };
      if (together) {
        for_each_indirect(ctx, others, options, add,
                          read(school, itself, &Fish::x, &Fish::y, &Fish::mass));
      } else {
        for_each_indirect(ctx, others, options, add, read(school, itself, &Fish::x),
                          read(school, itself, &Fish::y), read(school, itself, &Fish::mass));
      }
      if (Work* const work = ctx.work()) work->compute(6 * static_cast<double>(all), 0);
    }
  };
  parts.verify = [&](uint64_t salt) {
    for (size_t i = 0; i < bodies; ++i) {
      Force expected;
      for (uint64_t j = 0; j < all; ++j) {
        const Fish there = fish_of(j, salt);
        expected.add(fish_of(school.index_of(i), salt), there.x, there.y, there.mass);
      }
      if (expected != forces[i]) return false;
    }
    return true;
  };
  parts.scale = 1 / (static_cast<double>(bodies) * static_cast<double>(all));
  return measure_indirect(session, rule, parts, school);
}

}  // namespace

Benchmark fish_benchmark() {
  return indirect_benchmark(
      {.known = experiment::kernels::kFish,
       .run = run_fish,
       .title = "Forces between all bodies",
       .description = "Every rank adds up what all bodies do to each of its own ones, three of "
                      "four members of each; tuned begins with the bodies of another rank on each.",
       .factors = {integer_factor(kBodiesFactor, "1", "Bodies of a rank.", {16}, 1, 1e6)},
       .metric = {"time_per_pair", "s", true},
       .verification = "The force on each body is compared, exactly, in every repetition."});
}

}  // namespace stripline::suites
