// Kernels whose iterations or time steps read a shared array through the same index again and
// again, by the methods by which that is done without a compiler that sees it all (Basumallik,
// Compiling Shared-Memory Applications for Distributed-Memory Systems, chapter 5).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stripline/gather.h>
#include <stripline/shared_array.h>

#include "base/result.h"
#include "optimizer/experiment/catalogue.h"
#include "optimizer/experiment/experiment.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/sparse/matrix_rows.h"
#include "suites/registry.h"

namespace stripline::suites {

enum class GatherVariant : uint8_t {
  whole,      ///< every rank's whole part, one after the other, between barriers
  inspector,  ///< what is needed, waited for, and then read in the order of the index
  reordered,  ///< the same, read as it arrives: this rank's own elements first
  ring,       ///< the same, read owner by owner, beginning with the rank before this one
};
GatherVariant gather_variant_of(const experiment::Point& point);

/// What the program does with each element that it reads, for clocks that go by what is declared.
struct WorkOfRead {
  double flops = 0;
  double bytes = 0;
};

/// Reads of x[index[i]] by one of the methods. Moves; is destroyed before the array, on all ranks
/// in the same order.
template <typename T>
class RepeatedReads {
 public:
  using Array = shared_array<T, block_cyclic<>>;

  /// Collective. `x` lies in one block on each rank. Errors as GatherPlan::create().
  static Result<RepeatedReads> create(const Array& x, std::span<const uint64_t> index,
                                      GatherVariant variant, const WorkOfRead& work) {
    RepeatedReads made(x, variant, work);
    if (variant == GatherVariant::whole) {
      made.index_.assign(index.begin(), index.end());
      made.copy_.resize(x.size());
    } else {
      GatherOptions options;
      if (variant == GatherVariant::ring) options.order = GatherOrder::ring;
      STRIPLINE_ASSIGN_OR_RETURN(GatherPlan<T> plan, GatherPlan<T>::create(x, index, options));
      made.plan_.emplace(std::move(plan));
    }
    return made;
  }

  /// Collective: calls body(i, x[index[i]]) for each entry of the index, with the values that x has
  /// now. Their owners may change them when it has returned.
  template <typename Body>
  void for_each(Body&& body) {
    if (variant_ == GatherVariant::whole) {
      waiting([&] { read_whole(); });
      for (size_t i = 0; i < index_.size(); ++i) body(i, copy_[index_[i]]);
      done(index_.size());
      waiting([&] { context().barrier(); });
      return;
    }
    plan_->start(x_);
    if (variant_ == GatherVariant::inspector) {
      waiting([&] { plan_->wait(); });
      for (size_t i = 0; i < plan_->size(); ++i) body(i, (*plan_)[i]);
      done(plan_->size());
      return;
    }
    visit(plan_->core().group(0), body);
    for (;;) {
      std::optional<detail::GatherGroup> group;
      waiting([&] { group = plan_->core().next(CallSite::current()); });
      if (!group) break;
      visit(*group, body);
    }
    waiting([&] { plan_->wait(); });
  }

  /// What this rank has waited in for_each() for others and their elements, in seconds.
  double waited_s() const { return waited_s_; }
  /// What the inspection took; 0 where nothing is inspected.
  double inspection_s() const { return plan_ ? plan_->statistics().inspection_s : 0; }

 private:
  RepeatedReads(const Array& x, GatherVariant variant, const WorkOfRead& work)
      : x_(x), variant_(variant), work_(work) {}

  Context& context() const { return x_.context(); }

  template <typename Wait>
  void waiting(const Wait& wait) {
    const double begun_s = context().now_s();
    wait();
    waited_s_ += context().now_s() - begun_s;
  }

  // The next rank's part first, so that not all read the same one.
  void read_whole() {
    context().barrier();
    const rank_t ranks = context().rank_n();
    for (rank_t step = 0; step < ranks; ++step) {
      const rank_t rank = (context().rank_me() + step) % ranks;
      const uint64_t first = std::min(rank * x_.distribution().layout.block(), x_.size());
      x_.read_range(first, x_.local_size(rank), copy_.data() + first);
    }
  }

  template <typename Body>
  void visit(const detail::GatherGroup& group, Body& body) {
    const T* const values = reinterpret_cast<const T*>(group.values.front());
    for (size_t k = 0; k < group.reads.size(); ++k) {
      body(static_cast<size_t>(group.reads[k]), values[group.slots[k]]);
    }
    done(group.reads.size());
  }

  void done(size_t reads) {
    if (Work* const work = context().work()) {
      const auto count = static_cast<double>(reads);
      work->compute(count * work_.flops, count * work_.bytes);
    }
  }

  Array x_;
  GatherVariant variant_;
  WorkOfRead work_;
  std::vector<uint64_t> index_;
  std::vector<T> copy_;
  std::optional<GatherPlan<T>> plan_;
  double waited_s_ = 0;
};

/// What a rank has waited in a step, on average over steps and ranks, and what an inspection took:
/// for the note of a series.
class GatherTimes {
 public:
  void add(double waited_s, uint64_t steps) {
    waited_s_ += waited_s;
    steps_ += steps;
  }
  void add_inspection(double seconds) {
    inspected_s_ += seconds;
    ++inspections_;
  }
  /// Collective.
  std::string note(Context& context) const;

 private:
  double waited_s_ = 0;
  double inspected_s_ = 0;
  uint64_t steps_ = 0;
  uint64_t inspections_ = 0;
};

/// One of these kernels; `row` is without what all of them have in common.
Benchmark gather_benchmark(ExperimentRow row);

/// The whole matrix of a point, made symmetric and positive definite. Errors as MatrixChoice::of().
Result<sparse::MatrixRows> solver_matrix(const Session& session, const experiment::Point& point);
/// The factors that say which: its kind and, by default, `rows` rows.
std::vector<experiment::Factor> solver_matrix_factors(int64_t rows);

}  // namespace stripline::suites
