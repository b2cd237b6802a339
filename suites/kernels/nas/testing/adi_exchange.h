// Runs BT and SP for tests: ranks are threads, which copy from each other's memory and wait for
// nothing but for what they read.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <functional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "suites/kernels/nas/adi_solver.h"

namespace stripline::suites::nas {

/// How a test exchanges, and what it does wrong.
struct AdiTestManner {
  size_t piece = SIZE_MAX;  ///< Lines that are worked on at once.
  bool backwards = false;   ///< The last piece first.
  /// What rank 0 spoils in iteration `spoil_at`, if anything: asked for every face and for every
  /// step that receives.
  int spoil_at = -1;
  std::function<bool(const AdiFace&)> stale_face;
  std::function<bool(const AdiFace&)> wrong_face;
  std::function<bool(const AdiSweepStep&)> stale_step;
  std::function<bool(const AdiSweepStep&)> wrong_step;
};

/// What the ranks share.
class AdiTestGroup {
 public:
  AdiTestGroup(uint32_t ranks, size_t shared_doubles)
      : memory_(ranks, std::vector<double>(shared_doubles)),
        copies_(ranks),
        sums_(ranks),
        barrier_(static_cast<ptrdiff_t>(ranks)) {
    for (auto& rank : left_) rank = std::vector<std::atomic<int>>(ranks * kSteps);
  }

  std::span<double> memory(uint32_t rank) { return memory_[rank]; }
  void barrier() { barrier_.arrive_and_wait(); }

  /// How often `rank` has come to copy_faces().
  std::atomic<int>& copies(uint32_t rank) { return copies_[rank]; }
  /// In which iteration `rank` has last left results at this place of its memory.
  std::atomic<int>& left(uint32_t rank, int axis, int stage, bool forward) {
    return left_[forward ? 1 : 0][rank * kSteps + static_cast<size_t>(axis * kMaxStages + stage)];
  }
  AdiVector& sums(uint32_t rank) { return sums_[rank]; }
  size_t ranks() const { return memory_.size(); }

  static constexpr int kMaxStages = 8;

 private:
  static constexpr size_t kSteps = size_t{3} * kMaxStages;
  std::vector<std::vector<double>> memory_;
  std::vector<std::atomic<int>> copies_;
  std::array<std::vector<std::atomic<int>>, 2> left_;
  std::vector<AdiVector> sums_;
  std::barrier<> barrier_;
};

/// One rank's exchange.
class AdiTestExchange {
 public:
  AdiTestExchange(AdiTestGroup& group, const AdiLayout& layout, const AdiTestManner& manner)
      : group_(group),
        layout_(layout),
        manner_(manner),
        me_(layout.partition().rank()),
        faces_(layout.faces()) {}

  void copy_faces(AdiShare& share) {
    ++iteration_;
    const std::vector<AdiFace>& faces = faces_;
    group_.copies(me_).store(iteration_, std::memory_order_release);
    group_.copies(me_).notify_all();
    for (const AdiFace& face : faces) await(group_.copies(face.peer));
    const int cells = layout_.partition().cells_per_axis();
    for (const AdiFace& face : faces) fetch(face);
    for (int c = 0; c < cells; ++c) share.rhs(c);
  }

  template <typename Body>
  void sweep(const AdiSweepStep& step, Body&& body) {
    double* const mine = group_.memory(me_).data();
    if (step.receives) {
      await(group_.left(step.from, step.axis, step.forward ? step.stage - 1 : step.stage + 1,
                        step.forward));
    }
    in_pieces(step.lines, [&](size_t begin, size_t end) {
      const size_t at = begin * step.width;
      if (step.receives && !spoils(manner_.stale_step, step)) {
        std::copy_n(group_.memory(step.from).data() + step.from_out + at,
                    (end - begin) * step.width, mine + step.in + at);
      }
      // The last number of a line is one of the right-hand sides or of the solution; coefficients
      // count for little where these hardly differ from zero any more.
      if (begin == 0 && step.receives && spoils(manner_.wrong_step, step)) {
        mine[step.in + step.width - 1] += 0.001;
      }
      body(begin, end, step.receives ? mine + step.in + at : nullptr,
           step.sends ? mine + step.out + at : nullptr);
    });
    auto& left = group_.left(me_, step.axis, step.stage, step.forward);
    left.store(iteration_, std::memory_order_release);
    left.notify_all();
  }

  void sum(std::span<double> values) {
    std::ranges::copy(values, group_.sums(me_).begin());
    group_.barrier();
    for (size_t n = 0; n < values.size(); ++n) {
      values[n] = 0;
      for (uint32_t rank = 0; rank < group_.ranks(); ++rank) values[n] += group_.sums(rank)[n];
    }
    group_.barrier();
  }

 private:
  void await(std::atomic<int>& counter) const {
    for (int is = counter.load(std::memory_order_acquire); is < iteration_;
         is = counter.load(std::memory_order_acquire)) {
      counter.wait(is, std::memory_order_acquire);
    }
  }

  template <typename Body>
  void in_pieces(size_t count, Body&& body) const {
    const size_t piece = std::min(manner_.piece, count);
    const size_t pieces = (count + piece - 1) / piece;
    for (size_t n = 0; n < pieces; ++n) {
      const size_t begin = (manner_.backwards ? pieces - 1 - n : n) * piece;
      body(begin, std::min(begin + piece, count));
    }
  }

  template <typename What>
  bool spoils(const std::function<bool(const What&)>& which, const What& what) const {
    return me_ == 0 && iteration_ == manner_.spoil_at && which && which(what);
  }

  void fetch(const AdiFace& face) {
    if (spoils(manner_.stale_face, face)) return;
    const double* const source = group_.memory(face.peer).data();
    double* const target = group_.memory(me_).data();
    for (size_t b = 0; b < face.target.count[1]; ++b) {
      for (size_t a = 0; a < face.target.count[0]; ++a) {
        std::copy_n(
            source + face.source.begin + a * face.source.stride[0] + b * face.source.stride[1],
            face.source.run,
            target + face.target.begin + a * face.target.stride[0] + b * face.target.stride[1]);
      }
    }
    // Somewhere in the middle: the right-hand side does not reach the grid's boundary.
    if (spoils(manner_.wrong_face, face)) {
      target[face.target.begin + face.target.run / 2 + face.target.stride[0] +
             2 * face.target.stride[1]] += 0.001;
    }
  }

  AdiTestGroup& group_;
  AdiLayout layout_;
  const AdiTestManner& manner_;
  uint32_t me_;
  std::vector<AdiFace> faces_;
  int iteration_ = 0;
};

/// Runs a benchmark for `iterations` time steps and gives its norms, by which rank 0 and all others
/// agree.
template <typename Sweeps>
AdiNorms run_adi(const AdiClass& problem_class, int iterations, uint32_t ranks,
                 const AdiTestManner& manner = {}) {
  const auto layout_of = [&](uint32_t rank) {
    return AdiLayout(*AdiPartition::create(problem_class.points, ranks, rank), Sweeps::kWidths);
  };
  AdiTestGroup group(ranks, layout_of(0).shared_doubles());
  std::vector<AdiNorms> norms(ranks);
  const auto run_rank = [&](uint32_t rank) {
    const AdiLayout layout = layout_of(rank);
    AdiShare share(layout, problem_class.dt, group.memory(rank));
    Sweeps sweeps(share);
    AdiTestExchange exchange(group, layout, manner);
    for (int n = 0; n < iterations; ++n) adi_iterate(share, sweeps, exchange);
    norms[rank] = adi_norms(share, problem_class.dt, exchange);
  };
  {
    std::vector<std::jthread> threads;
    for (uint32_t rank = 1; rank < ranks; ++rank) threads.emplace_back(run_rank, rank);
    run_rank(0);
  }
  return norms.front();
}

/// The classes to run: the letters in STRIPLINE_TEST_NAS_CLASSES, or S alone.
inline bool is_class_to_run(NasClass problem_class) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): set by the caller only
  const char* text = std::getenv("STRIPLINE_TEST_NAS_CLASSES");
  return std::string_view(text == nullptr ? "S" : text).find(letter(problem_class)) !=
         std::string_view::npos;
}

}  // namespace stripline::suites::nas
