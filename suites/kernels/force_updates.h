// Methods by which every rank adds forces to memory that is spread over all ranks: what a program
// would write without updates (lock, atomics, by_hand), UpdateEpoch (tuned), and one rank that does
// the work of all on memory of its own (sequential).
//
// What is added comes in items, of which each rank has as many: bodies, or points. The kernel goes
// through the updates of an item, so that none is stored that need not be.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <stripline/atomic.h>
#include <stripline/lock.h>
#include <stripline/team.h>
#include <stripline/update.h>
#include <stripline/work.h>

#include "base/result.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/owner_buckets.h"
#include "suites/kernels/symmetric_memory.h"
#include "suites/kernels/update_variants.h"

namespace stripline::suites {

/// kWidth doubles side by side, which an update adds together.
template <size_t kWidth>
using Force = std::array<double, kWidth>;

/// The work of all ranks: `items` of each with `updates` each.
struct ForceWork {
  size_t items = 0;
  size_t updates = 0;
  double update_flops = 0;  ///< to find what is added, and to add it
  double update_bytes = 0;  ///< of arrays that are read to find it
};

template <size_t kWidth>
class ForceUpdates {
 public:
  /// Collective. `own`: doubles of each rank. Errors: as those of memory and locks.
  static Result<ForceUpdates> create(Context& context, UpdateVariant variant, size_t own,
                                     const ForceWork& work, const UpdateOptions& options) {
    STRIPLINE_ASSIGN_OR_RETURN(auto memory, SymmetricMemory<double>::create(context, own));
    STRIPLINE_ASSIGN_OR_RETURN(auto lock, global_lock::create(context));
    return ForceUpdates(context, variant, own, work, options, std::move(memory), std::move(lock));
  }

  /// What is really made: methods that wait for each update make few.
  const ForceWork& work() const { return work_; }

  /// Collective. Measures `parts`, whose scale it sets: a sample is the time of a rank's update.
  /// That of all ranks' work by one counts as often as there are ranks. The tuned method notes what
  /// this rank sent.
  experiment::SampleSeries measure(Session& session, const experiment::StopRule& rule,
                                   KernelParts parts) {
    parts.scale = 1 / static_cast<double>(work_.items * work_.updates);
    experiment::SampleSeries series = measure_kernel(session, rule, parts);
    series.note = series.verified ? note_of_updates(epoch_.in_use(), epoch_.statistics(), epochs_)
                                  : "verification failed: a force is wrong";
    return series;
  }

  void clear() {
    std::fill_n(memory_.here(), own_, 0.0);
    std::ranges::fill(alone_, 0.0);
  }

  /// Collective; all is added when it returns. `make(item, updates, add)` goes through the first
  /// updates of an item, and calls add(owner, first, force) for each: `first` is a place among the
  /// owner's doubles. Items are counted over all ranks, of which each has as many as the next one.
  template <typename Make>
  void run(const Make& make) {
    switch (variant_) {
      case UpdateVariant::naive:
      case UpdateVariant::lock:
        each(context_->rank_me(), make,
             [this](rank_t owner, size_t first, const Force<kWidth>& force) {
               const std::lock_guard hold(lock_);
               const auto where = at(owner, first).template reinterpret<Force<kWidth>>();
               Force<kWidth> sum = context_->rget(where);
               add(sum.data(), force);
               context_->rput(sum, where);
             });
        context_->barrier();
        break;
      case UpdateVariant::atomics:
        each(context_->rank_me(), make,
             [this](rank_t owner, size_t first, const Force<kWidth>& force) {
               const auto where = at(owner, first);
               for (size_t i = 0; i < kWidth; ++i) {
                 atomics_.add(where + static_cast<std::ptrdiff_t>(i), force[i]);
               }
             });
        context_->barrier();
        break;
      case UpdateVariant::by_hand:
        exchange(make);
        break;
      case UpdateVariant::tuned:
        each(context_->rank_me(), make,
             [this](rank_t owner, size_t first, const Force<kWidth>& force) {
               epoch_.update_run(at(owner, first), force);
             });
        epoch_.end();
        ++epochs_;
        break;
      case UpdateVariant::sequential:
        if (context_->rank_me() != 0) break;
        for (rank_t rank = 0; rank < context_->rank_n(); ++rank) {
          each(rank, make, [this](rank_t owner, size_t first, const Force<kWidth>& force) {
            add(alone_.data() + owner * own_ + first, force);
          });
          count_added(work_.items * work_.updates);
        }
        break;
    }
  }

  /// Collective. What `right(owner, doubles)` says of all memory, each part asked on one rank.
  template <typename Right>
  bool verify(const Right& right) const {
    if (variant_ != UpdateVariant::sequential) {
      return right(context_->rank_me(), std::span<const double>(memory_.here(), own_));
    }
    for (rank_t owner = 0; owner * own_ < alone_.size(); ++owner) {
      if (!right(owner, std::span<const double>(alone_).subspan(owner * own_, own_))) return false;
    }
    return true;
  }

 private:
  // Updates of an exchange by hand.
  static constexpr size_t kRound = size_t{1} << 16;

  struct Sent {
    rank_t owner;
    size_t first;
    Force<kWidth> force;
  };

  ForceUpdates(Context& context, UpdateVariant variant, size_t own, const ForceWork& work,
               const UpdateOptions& options, SymmetricMemory<double> memory, global_lock lock)
      : context_(&context),
        variant_(variant),
        own_(own),
        stride_(work.items),
        work_(work),
        memory_(std::move(memory)),
        lock_(std::move(lock)),
        atomics_(context),
        epoch_(context, options),
        buckets_(context) {
    if (work_.items * work_.updates > updates_made(variant, work_.items * work_.updates)) {
      work_.updates = updates_made(variant, work.updates);
      work_.items = std::max<size_t>(1, updates_made(variant, work.items) / work_.updates);
    }
    if (variant == UpdateVariant::sequential && context.rank_me() == 0) {
      alone_.resize(own * context.rank_n());
    }
  }

  static void add(double* sum, const Force<kWidth>& force) {
    for (size_t i = 0; i < kWidth; ++i) sum[i] += force[i];
  }
  global_ptr<double> at(rank_t owner, size_t first) const {
    return memory_.on(owner) + static_cast<std::ptrdiff_t>(first);
  }

  template <typename Make, typename Add>
  void each(rank_t rank, const Make& make, const Add& add) const {
    for (size_t i = 0; i < work_.items; ++i) {
      count_made();
      make(rank * stride_ + i, work_.updates, add);
    }
  }

  // What it takes to find the updates of an item, and to add forces to memory of this rank.
  void count_made() const {
    if (Work* const work = context_->work()) {
      const auto updates = static_cast<double>(work_.updates);
      work->compute(updates * work_.update_flops, updates * work_.update_bytes);
    }
  }
  void count_added(size_t forces) const {
    if (Work* const work = context_->work()) {
      work->bytes += 2 * static_cast<double>(forces * sizeof(Force<kWidth>));
    }
  }

  template <typename Make>
  void exchange(const Make& make) {
    const auto send = [this] {
      const std::span<const Sent> came =
          buckets_.send(out_, [](const Sent& sent) { return sent.owner; });
      for (const Sent& one : came) add(memory_.here() + one.first, one.force);
      count_added(came.size());
      out_.clear();
    };
    const auto keep = [this](rank_t owner, size_t first, const Force<kWidth>& force) {
      out_.push_back({owner, first, force});
    };
    // On every rank after the same items.
    const size_t together = std::max<size_t>(1, kRound / work_.updates);
    for (size_t i = 0; i < work_.items; ++i) {
      count_made();
      make(context_->rank_me() * stride_ + i, work_.updates, keep);
      if ((i + 1) % together == 0) send();
    }
    send();
    context_->barrier();
  }

  Context* context_;
  UpdateVariant variant_;
  size_t own_;
  size_t stride_;  // from the items of a rank to those of the next one
  ForceWork work_;
  SymmetricMemory<double> memory_;
  global_lock lock_;
  atomic_domain<double> atomics_;
  UpdateEpoch<double, op_add> epoch_;
  OwnerBuckets<Sent> buckets_;
  std::vector<Sent> out_;
  std::vector<double> alone_;  // of all owners, for one rank that does all
  uint64_t epochs_ = 0;
};

}  // namespace stripline::suites
