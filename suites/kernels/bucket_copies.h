// Updates of cells of other ranks in bulk, as a program has them that is written plainly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stripline/shared_array.h>
#include <stripline/work.h>

#include "base/result.h"
#include "suites/kernels/plain_copies.h"
#include "suites/kernels/symmetric_memory.h"
#include "suites/kernels/update_variants.h"

namespace stripline::suites {

/// Keys are sorted into a bucket for each owner, which is copied into the rank's box there, behind
/// its length; after a barrier, owners apply what is in their boxes (Gups-bulk of Chen, Optimizing
/// PGAS Programs for Cluster Architectures, 2007, table 3.2). `Kernel` as for Updates.
template <typename Kernel, typename Layout>
class BucketCopies {
 public:
  using Array = shared_array<uint64_t, Layout>;

  /// Collective. A round sends this number of keys.
  static Result<BucketCopies> create(Array& table, size_t round, bool by_hand) {
    Context& context = table.context();
    STRIPLINE_ASSIGN_OR_RETURN(auto boxes, SymmetricMemory<uint64_t>::create(
                                               context, kTurns * context.rank_n() * (round + 1)));
    return BucketCopies(table, round, by_hand, std::move(boxes));
  }

  /// Collective; as many keys on every rank. All updates are made when it returns.
  void run(std::span<const uint64_t> keys) {
    for (size_t i = 0; i < keys.size(); i += round_) {
      send(keys.subspan(i, std::min(round_, keys.size() - i)));
    }
  }

 private:
  // A rank copies into a box again two rounds later, behind a barrier that the owner enters when it
  // has applied that box.
  static constexpr size_t kTurns = 2;

  BucketCopies(Array& table, size_t round, bool by_hand, SymmetricMemory<uint64_t> boxes)
      : context_(&table.context()),
        table_(&table),
        round_(round),
        boxes_(std::move(boxes)),
        copies_(table.context(), by_hand),
        begin_(table.context().rank_n() + 1),
        next_(table.context().rank_n()),
        sorted_(round + table.context().rank_n()) {}

  uint64_t cell_of(uint64_t key) const { return Kernel::cell(key, table_->size()); }
  std::ptrdiff_t box_of(rank_t from) const {
    return static_cast<std::ptrdiff_t>((turn_ * context_->rank_n() + from) * (round_ + 1));
  }

  // Bucket by bucket, each behind its length.
  void sort(std::span<const uint64_t> keys) {
    std::ranges::fill(next_, size_t{0});
    for (const uint64_t key : keys) ++next_[table_->affinity(cell_of(key))];
    begin_[0] = 0;
    for (size_t rank = 0; rank < next_.size(); ++rank) {
      sorted_[begin_[rank]] = next_[rank];
      begin_[rank + 1] = begin_[rank] + 1 + next_[rank];
      next_[rank] = begin_[rank] + 1;
    }
    for (const uint64_t key : keys) sorted_[next_[table_->affinity(cell_of(key))]++] = key;
    if (Work* const work = context_->work()) {  // each is read to be counted, then moved
      work->compute(static_cast<double>(keys.size()), 3 * static_cast<double>(keys.size_bytes()));
    }
  }

  void apply(std::span<const uint64_t> keys) {
    const std::span<uint64_t> mine = table_->local_span();
    for (const uint64_t key : keys) {
      uint64_t& cell = mine[table_->distribution().locate(cell_of(key)).index];
      cell = typename Kernel::Op{}(cell, Kernel::value(key));
    }
    count_updates_in_place(context_->work(), keys.size());
  }

  void send(std::span<const uint64_t> keys) {
    const rank_t me = context_->rank_me();
    const rank_t ranks = context_->rank_n();
    sort(keys);
    for (rank_t step = 1; step < ranks; ++step) {
      const rank_t owner = (me + step) % ranks;
      const uint64_t* const bucket = sorted_.data() + begin_[owner];
      copies_.put(boxes_.on(owner) + box_of(me), bucket, begin_[owner + 1] - begin_[owner]);
    }
    apply(std::span(sorted_).subspan(begin_[me] + 1, begin_[me + 1] - begin_[me] - 1));
    copies_.finish();
    context_->barrier();
    for (rank_t step = 1; step < ranks; ++step) {
      const uint64_t* const box = boxes_.here() + box_of((me + ranks - step) % ranks);
      apply({box + 1, static_cast<size_t>(*box)});
    }
    turn_ = (turn_ + 1) % kTurns;
  }

  Context* context_;
  Array* table_;
  size_t round_;
  SymmetricMemory<uint64_t> boxes_;  // [turn][rank that sends]
  CopyCalls copies_;
  std::vector<size_t> begin_;  // of each owner's bucket
  std::vector<size_t> next_;
  std::vector<uint64_t> sorted_;
  size_t turn_ = 0;
};

}  // namespace stripline::suites
