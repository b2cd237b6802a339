// Copies of other ranks' memory that mechanisms keep, and who has to know when this rank stores
// there itself. A keeper says of which ranges it holds copies, and is notified of each store there:
// before it begins, and again when it is complete, because in between a copy of what was there
// before may have been made. What lies elsewhere costs a comparison for each keeper.
//
// How long copies may be used otherwise is said by Operations::acquire_epoch().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <stripline/global_ptr.h>

namespace stripline::rma {

class Keepers;

/// What has become of copies.
struct KeptStatistics {
  uint64_t kept = 0;          ///< regions of which there were copies
  uint64_t hits = 0;          ///< how often a copy was used: blocks of loops, references of nests
  uint64_t served_bytes = 0;  ///< by that
  uint64_t acquired = 0;      ///< regions given up for an acquire
  uint64_t overwritten = 0;   ///< and for a store of this rank
  uint64_t evicted = 0;       ///< and because their buffers had to go
};

/// "data cache: 31 regions kept, ...", a line for --trace.
std::string kept_text(const KeptStatistics& statistics);

/// For each rank a range of its segment that holds all of what was added.
class RankBounds {
 public:
  bool empty() const { return touched_.empty(); }
  void add(rank_t ranks, rank_t rank, uint64_t begin, uint64_t end) {
    if (begin == end) return;
    if (bounds_.empty()) [[unlikely]]
      bounds_.resize(ranks);
    Range& range = bounds_[rank];
    if (range.end == 0) touched_.push_back(rank);
    range.begin = std::min(range.begin, begin);
    range.end = std::max(range.end, end);
  }
  bool overlap(rank_t rank, uint64_t begin, uint64_t end) const {
    if (empty()) return false;
    const Range& range = bounds_[rank];
    return begin < range.end && range.begin < end;
  }
  void clear() {
    for (const rank_t rank : touched_) bounds_[rank] = {};
    touched_.clear();
  }
  /// Visits each range that is not empty: rank, begin, end.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const rank_t rank : touched_) visit(rank, bounds_[rank].begin, bounds_[rank].end);
  }

 private:
  struct Range {
    uint64_t begin = UINT64_MAX;
    uint64_t end = 0;
  };
  std::vector<Range> bounds_;    // by rank, from the first add() on
  std::vector<rank_t> touched_;  // ranks whose range is not empty
};

/// A mechanism that keeps copies of memory out of reach of loads and stores.
class Keeper {
 public:
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// True if it has copies.
  bool keeps() const { return !bounds_.empty(); }

 protected:
  /// Among `keepers`, which outlives it.
  explicit Keeper(Keepers& keepers);
  virtual ~Keeper();

  /// It has, or is about to have, a copy of bytes in this range of a rank's segment.
  void keep(rank_t rank, uint64_t begin, uint64_t end);
  /// It has no copies any more.
  void keep_nothing() { bounds_.clear(); }

  /// This rank stores into a range that overlaps what keep() said of the rank, as a whole.
  virtual void stored(rank_t rank, uint64_t offset, uint64_t bytes) = 0;

 private:
  friend class Keepers;
  Keepers& keepers_;
  RankBounds bounds_;
};

class Keepers {
 public:
  explicit Keepers(rank_t ranks) : ranks_(ranks) {}

  /// To be called before this rank stores into memory out of reach. Costs next to nothing until
  /// somebody keeps a copy for the first time.
  void stored(rank_t target, uint64_t offset, uint64_t bytes) {
    if (!tracks_) [[likely]] {
      stored_untracked_ = true;
      return;
    }
    pending_.add(ranks_, target, offset, offset + bytes);
    tell(target, offset, bytes);
  }
  /// Some of these stores are known to be complete, from now on.
  void stores_complete() const {
    if (any()) [[unlikely]]
      tell_of_pending_stores();
  }
  /// All of them are.
  void no_stores_pending() {
    stores_complete();
    pending_.clear();
    stored_untracked_ = false;
  }

  /// True if somebody has copies.
  bool any() const {
    return std::ranges::any_of(keepers_, [](const Keeper* keeper) { return keeper->keeps(); });
  }

 private:
  friend class Keeper;
  void tell(rank_t target, uint64_t offset, uint64_t bytes) const {
    for (Keeper* const keeper : keepers_) {
      if (keeper->bounds_.overlap(target, offset, offset + bytes)) [[unlikely]]
        keeper->stored(target, offset, bytes);
    }
  }
  void tell_of_pending_stores() const;
  // Before the first copy is made: where stores go is known from now on.
  void track();

  const rank_t ranks_;
  bool tracks_ = false;
  bool stored_untracked_ = false;  // a store of before may not be complete
  std::vector<Keeper*> keepers_;
  RankBounds pending_;  // stores that may not be complete
};

}  // namespace stripline::rma
