// Methods of updating cells of other ranks, for kernels whose ranks all do so at once: what a
// program would write without updates (naive, lock, atomics, by_hand), UpdateEpoch (tuned), and one
// rank that does the work of all on memory of its own (sequential).
//
// A kernel is a type: what an update does to a cell, and which cell and value belong to a key.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <stripline/atomic.h>
#include <stripline/lock.h>
#include <stripline/shared_array.h>
#include <stripline/update.h>
#include <stripline/work.h>

#include "optimizer/experiment/experiment.h"
#include "suites/kernels/owner_buckets.h"

namespace stripline::suites {

/// In the order of the catalogue for kernel.histogram, which has all of them.
enum class UpdateVariant : uint8_t { naive, lock, atomics, by_hand, tuned, sequential };
/// naive of a variant that is none of these, and that the kernel carries out itself.
UpdateVariant update_variant_of(const experiment::Point& point);

/// Factors of kernels of updates: how UpdateEpoch collects, and for updates that can be made in
/// other methods, too, by which of them.
std::vector<experiment::Factor> buffer_factors();
std::vector<experiment::Factor> update_factors();
/// Errors: invalid_argument for a mode that the method cannot keep, failed_precondition for a
/// method that the network does not have.
Result<UpdateOptions> update_options_of(Context& context, const experiment::Point& point);

/// The most updates of a repetition by methods that wait for each; by the others, it makes all of
/// them.
constexpr size_t updates_made(UpdateVariant variant, size_t updates) {
  constexpr size_t kFew = 1000;
  const bool waits = variant == UpdateVariant::naive || variant == UpdateVariant::lock ||
                     variant == UpdateVariant::atomics;
  return waits ? std::min(updates, kFew) : updates;
}

/// What a rank computes that goes through `keys` keys of 8 bytes, and updates a cell in its own
/// memory by each; nothing where `work` is null.
inline void count_updates_in_place(Work* work, size_t keys) {
  if (work == nullptr) return;
  work->compute(static_cast<double>(keys), static_cast<double>(3 * keys * sizeof(uint64_t)));
}

/// The note of a series: how updates were made in the last of `epochs` epochs, and what this rank
/// sent in each; empty without any.
std::string note_of_updates(const UpdateSettings& used, const UpdateStatistics& sent,
                            uint64_t epochs);

/// The cell that a key changes by reading and writing, which are no atomic operation together:
/// ranks that do so change cells of their own, of all ranks, whether neighbours in the array are on
/// one rank or one each.
template <typename Kernel, typename Layout>
uint64_t exclusive_cell(const shared_array<uint64_t, Layout>& array, uint64_t key) {
  const uint64_t ranks = array.context().rank_n();
  const uint64_t of_each = array.size() / ranks;
  const uint64_t number = Kernel::cell(key, array.size()) % of_each;
  const uint64_t me = array.context().rank_me();
  return std::is_same_v<Layout, cyclic> ? me * of_each + number : number * ranks + me;
}

/// Carries out the updates of this rank's keys. Made collectively.
template <typename Kernel, typename Layout>
class Updates {
 public:
  using Op = typename Kernel::Op;
  using Array = shared_array<uint64_t, Layout>;

  /// At most `look_ahead` updates of a rank wait to be carried out; 0: any number.
  static Result<Updates> create(const Array& array, UpdateVariant variant, size_t look_ahead,
                                const UpdateOptions& options) {
    STRIPLINE_ASSIGN_OR_RETURN(auto lock, global_lock::create(array.context()));
    return Updates(array, variant, look_ahead, options, std::move(lock));
  }

  /// Collective; all updates are carried out when it returns. As many keys on every rank.
  void run(std::span<const uint64_t> keys) {
    switch (variant_) {
      case UpdateVariant::naive:
        count_work(keys.size());
        for (const uint64_t key : keys) {
          const uint64_t cell = exclusive_cell(key);
          array_.write(cell, Op{}(array_.read(cell), Kernel::value(key)));
        }
        break;
      case UpdateVariant::lock:
        count_work(keys.size());
        for (const uint64_t key : keys) {
          const uint64_t cell = Kernel::cell(key, array_.size());
          const std::lock_guard hold(lock_);
          array_.write(cell, Op{}(array_.read(cell), Kernel::value(key)));
        }
        break;
      case UpdateVariant::atomics:
        count_work(keys.size());
        for (const uint64_t key : keys) {
          const auto cell = array_.global(Kernel::cell(key, array_.size()));
          if constexpr (std::is_same_v<Op, op_add>) {
            atomics_.add(cell, Kernel::value(key));
          } else {
            static_assert(std::is_same_v<Op, op_bit_xor>);
            atomics_.bit_xor(cell, Kernel::value(key));
          }
        }
        break;
      case UpdateVariant::by_hand: {
        constexpr size_t kRound = size_t{1} << 16;
        const size_t round = look_ahead_ == 0 ? kRound : look_ahead_;
        for (size_t i = 0; i < keys.size(); i += round) {
          exchange(keys.subspan(i, std::min(round, keys.size() - i)));
        }
        break;
      }
      case UpdateVariant::tuned:
        collect(keys);
        ++epochs_;
        return;
      case UpdateVariant::sequential:
        return;  // not over an array that is shared
    }
    array_.context().barrier();
  }

  std::string note() const {
    return note_of_updates(epoch_.in_use(), epoch_.statistics(), epochs_);
  }

  /// The cell that an update of this rank really changes.
  uint64_t cell_of(uint64_t key) const {
    return variant_ == UpdateVariant::naive ? exclusive_cell(key)
                                            : Kernel::cell(key, array_.size());
  }

 private:
  Updates(const Array& array, UpdateVariant variant, size_t look_ahead,
          const UpdateOptions& options, global_lock lock)
      : array_(array),
        variant_(variant),
        look_ahead_(look_ahead),
        lock_(std::move(lock)),
        atomics_(array.context()),
        epoch_(array.context(), options),
        buckets_(array.context()) {}

  uint64_t exclusive_cell(uint64_t key) const {
    return suites::exclusive_cell<Kernel>(array_, key);
  }

  void collect(std::span<const uint64_t> keys) {
    const auto cells = epoch_.into(array_);
    const uint64_t size = array_.size();
    const size_t round = look_ahead_ == 0 ? keys.size() : look_ahead_;
    while (!keys.empty()) {
      const std::span<const uint64_t> some = keys.first(std::min(round, keys.size()));
      for (size_t i = 0; i < some.size(); i += kCountedKeys) {
        const auto part = some.subspan(i, std::min(kCountedKeys, some.size() - i));
        count_work(part.size());
        for (const uint64_t key : part) cells.update(Kernel::cell(key, size), Kernel::value(key));
      }
      keys = keys.subspan(some.size());
      if (!keys.empty()) epoch_.flush();
    }
    epoch_.end();
  }

  // What this rank computes of updates whose cells others change.
  void count_work(size_t keys) const {
    if (Work* const work = array_.context().work()) {
      work->compute(static_cast<double>(keys), static_cast<double>(keys * sizeof(uint64_t)));
    }
  }

  void exchange(std::span<const uint64_t> keys) {
    const std::span<uint64_t> mine = array_.local_span();
    const auto owner_of = [this](uint64_t key) {
      return array_.affinity(Kernel::cell(key, array_.size()));
    };
    const std::span<const uint64_t> came = buckets_.send(keys, owner_of);
    for (const uint64_t key : came) {
      uint64_t& cell = mine[array_.distribution().locate(Kernel::cell(key, array_.size())).index];
      cell = Op{}(cell, Kernel::value(key));
    }
    count_updates_in_place(array_.context().work(), came.size());
  }

  // Keys whose work is counted at once, so that it is spread over what is sent meanwhile.
  static constexpr size_t kCountedKeys = 4096;

  Array array_;
  UpdateVariant variant_;
  size_t look_ahead_;
  global_lock lock_;
  atomic_domain<uint64_t> atomics_;
  UpdateEpoch<uint64_t, Op> epoch_;
  OwnerBuckets<uint64_t> buckets_;
  uint64_t epochs_ = 0;
};

}  // namespace stripline::suites
