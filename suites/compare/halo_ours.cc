// Times of the runtime's halo exchange: stripline run -n N -- stripline-halo [BATCHES [SYSTEM]]. By
// the exchange that the runtime offers for that, and by a put with a signal in each direction; then
// by bare libfabric.
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <stripline/halo.h>
#include <stripline/team.h>
#include <stripline/vis.h>

#include "suites/compare/halo_bare.h"
#include "suites/compare/halo_times.h"
#include "suites/harness/context_ranks.h"

namespace {

namespace harness = stripline::suites::harness;
using stripline::future;
using stripline::global_ptr;
using stripline::halo_exchange;
using stripline::rank_t;
using stripline::suites::compare::BareHalo;
using stripline::suites::compare::halo_cells;
using stripline::suites::compare::halo_grid;
using stripline::suites::compare::halo_index;
using stripline::suites::compare::HaloFace;
using stripline::suites::compare::kHaloCells;
using stripline::suites::compare::kHaloCubes;

constexpr size_t room() { return halo_cells(kHaloCells.back()); }

/// By halo_exchange.
class Exchange final : public harness::ContextRanks {
 public:
  explicit Exchange(stripline::Context& context) : ContextRanks(context) {
    for (auto& cube : cubes_) cube.resize(room());
  }

  std::span<double> cube(size_t i) { return std::span(cubes_[i]).first(halo_cells(n_)); }
  void prepare(size_t n, std::span<const HaloFace> /*faces*/) {
    n_ = n;
    halo_.reset();
    const auto grid = halo_grid(ranks());  // whose first index runs fastest, here the last one does
    halo_.emplace(harness::or_exit(halo_exchange<double, 3>::create(
        context_, {.interior = {n, n, n},
                   .width = {1, 1, 1},
                   .grid = {static_cast<rank_t>(grid[2]), static_cast<rank_t>(grid[1]),
                            static_cast<rank_t>(grid[0])},
                   .periodic = {true, true, true},
                   .neighbours = stripline::halo_neighbours::all})));
  }
  void exchange(size_t i) { halo_->exchange(cubes_[i].data()); }

 private:
  size_t n_ = 0;
  std::array<std::vector<double>, kHaloCubes> cubes_;
  std::optional<halo_exchange<double, 3>> halo_;
};

/// By a put with a signal in each direction, each with a flag of its own.
class Puts final : public harness::ContextRanks {
 public:
  explicit Puts(stripline::Context& context)
      : ContextRanks(context),
        cubes_(harness::or_exit(context.new_symmetric_array<double>(kHaloCubes * room()))),
        flags_(harness::or_exit(context.new_symmetric_array<uint64_t>(kDirections * kHaloCubes))) {}

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
      const auto there = static_cast<rank_t>(face.rank);
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

 private:
  static constexpr size_t kDirections = 26;
  global_ptr<uint64_t> flag(rank_t rank, size_t direction, size_t i) const {
    return context_.on_rank(flags_, rank) + static_cast<std::ptrdiff_t>(direction * kHaloCubes + i);
  }

  size_t n_ = 0;
  global_ptr<double> cubes_;
  global_ptr<uint64_t> flags_;
  std::vector<HaloFace> faces_;
  std::array<future, kDirections> sent_;
  std::array<uint64_t, kHaloCubes> rounds_{};
};

}  // namespace

int main(int argc, char** argv) {
  const auto context = harness::or_exit(stripline::Context::init());
  const size_t batches = harness::argument(argc, argv, 1, 50);
  const std::string_view only = argc > 2 ? argv[2] : "";
  bool right = true;
  const auto measure = [&](const char* name, const auto& make) {
    if (!only.empty() && only != name) return;
    auto system = make();
    right = stripline::suites::compare::print_halo_times(*system, batches, name) && right;
  };
  measure("ours", [&] { return std::make_unique<Exchange>(*context); });
  measure("ours, 26 puts", [&] { return std::make_unique<Puts>(*context); });
  measure("libfabric", [&] { return std::make_unique<BareHalo>(*context, true); });
  measure("libfabric, 26 messages", [&] { return std::make_unique<BareHalo>(*context, false); });
  return right ? 0 : 1;
}
