// Times of the runtime's halo exchange: stripline run -n N -- stripline-halo [BATCHES].
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include <stripline/team.h>
#include <stripline/vis.h>

#include "suites/compare/halo_times.h"

namespace {

using stripline::future;
using stripline::global_ptr;
using stripline::suites::compare::halo_cells;
using stripline::suites::compare::halo_index;
using stripline::suites::compare::HaloFace;
using stripline::suites::compare::kHaloCells;
using stripline::suites::compare::kHaloCubes;

/// A put with a signal in each direction, each with a flag of its own.
class Ours {
 public:
  explicit Ours(stripline::Context& context)
      : context_(context), all_(stripline::team::world(context)) {
    const auto cubes = context.new_symmetric_array<double>(kHaloCubes * room());
    const auto flags = context.new_symmetric_array<uint64_t>(kDirections * kHaloCubes);
    if (!cubes.ok() || !flags.ok()) {
      // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
      std::exit(stripline::report(cubes.ok() ? flags.error() : cubes.error()));
    }
    cubes_ = *cubes;
    flags_ = *flags;
  }

  size_t rank() const { return all_.rank_me(); }
  size_t ranks() const { return all_.rank_n(); }
  double now_s() { return context_.now_s(); }
  void barrier() { context_.barrier(); }
  std::span<double> cube(size_t i) { return {context_.local(cubes_) + i * room(), halo_cells(n_)}; }
  void prepare(size_t n, std::span<const HaloFace> faces) {
    n_ = n;
    faces_.assign(faces.begin(), faces.end());
  }

  void exchange(size_t i) {
    ++rounds_[i];
    const auto line = static_cast<std::ptrdiff_t>((n_ + 2) * sizeof(double));
    const std::array<std::ptrdiff_t, 3> strides = {sizeof(double), line,
                                                   line * static_cast<std::ptrdiff_t>(n_ + 2)};
    const double* const mine = cube(i).data();
    for (size_t d = 0; d < faces_.size(); ++d) {
      const HaloFace& face = faces_[d];
      const auto there = static_cast<stripline::rank_t>(face.rank);
      sent_[d] = stripline::rput_strided_signal(
          context_, mine + halo_index(n_, face.from), strides,
          context_.on_rank(cubes_, there) +
              static_cast<std::ptrdiff_t>(i * room() + halo_index(n_, face.to)),
          strides, face.extents, flag(there, d, i), rounds_[i]);
    }
    for (size_t d = 0; d < faces_.size(); ++d) {
      context_.wait_signal(flag(context_.rank_me(), d, i), rounds_[i]);
    }
    for (const future& one : sent_) one.wait_source();
  }

  void longest(std::span<double> times) { all_.reduce(times, times, stripline::op_max{}, 0); }

 private:
  static constexpr size_t kDirections = 26;
  static constexpr size_t room() { return halo_cells(kHaloCells.back()); }
  global_ptr<uint64_t> flag(stripline::rank_t rank, size_t direction, size_t i) const {
    return context_.on_rank(flags_, rank) + static_cast<std::ptrdiff_t>(direction * kHaloCubes + i);
  }

  stripline::Context& context_;
  stripline::team all_;
  global_ptr<double> cubes_;
  global_ptr<uint64_t> flags_;
  size_t n_ = 0;
  std::vector<HaloFace> faces_;
  std::array<future, kDirections> sent_;
  std::array<uint64_t, kHaloCubes> rounds_{};
};

}  // namespace

int main(int argc, char** argv) {
  const auto context = stripline::Context::init();
  if (!context.ok()) return stripline::report(context.error());
  const int batches = argc > 1 ? std::atoi(argv[1]) : 50;
  Ours ours(**context);
  return stripline::suites::compare::print_halo_times(ours, batches, "ours") ? 0 : 1;
}
