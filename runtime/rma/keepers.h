// Copies of other ranks' memory that mechanisms keep, and who has to know when this rank stores
// there itself. A keeper says of which ranges it holds copies, and is told of each store into them
// before it begins; what lies elsewhere costs a comparison for each keeper.
//
// docs/memory-model.md says how long copies may be used.
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
  uint64_t synchronised = 0;  ///< regions given up for a synchronisation
  uint64_t overwritten = 0;   ///< and for a store of this rank
  uint64_t evicted = 0;       ///< and because their buffers had to go
};

/// "data cache: 31 regions kept, ...", a line for --trace.
std::string kept_text(const KeptStatistics& statistics);

/// A mechanism that keeps copies of memory out of reach of loads and stores.
class Keeper {
 public:
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// True if it has copies.
  bool keeps() const { return !touched_.empty(); }

 protected:
  /// Among `keepers`, which outlives it.
  explicit Keeper(Keepers& keepers);
  virtual ~Keeper();

  /// It has, or is about to have, a copy of bytes in this range of a rank's segment.
  void keep(rank_t rank, uint64_t begin, uint64_t end);
  /// It has no copies any more.
  void keep_nothing();

  /// This rank stores into a range that overlaps what keep() said of the rank, as a whole.
  virtual void stored(rank_t rank, uint64_t offset, uint64_t bytes) = 0;

 private:
  friend class Keepers;
  struct Bounds {
    uint64_t begin = UINT64_MAX;
    uint64_t end = 0;
  };
  bool overlaps(rank_t rank, uint64_t offset, uint64_t bytes) const {
    if (touched_.empty()) return false;
    const Bounds& bounds = bounds_[rank];
    return offset < bounds.end && bounds.begin < offset + bytes;
  }

  Keepers& keepers_;
  std::vector<Bounds> bounds_;   // by rank, from the first copy on
  std::vector<rank_t> touched_;  // ranks of which there are copies
};

class Keepers {
 public:
  explicit Keepers(rank_t ranks) : ranks_(ranks) {}

  /// To be called before this rank stores into memory out of reach.
  void stored(rank_t target, uint64_t offset, uint64_t bytes) const {
    for (Keeper* const keeper : keepers_) {
      if (keeper->overlaps(target, offset, bytes)) [[unlikely]]
        keeper->stored(target, offset, bytes);
    }
  }

  /// True if somebody has copies.
  bool any() const {
    return std::ranges::any_of(keepers_, [](const Keeper* keeper) { return keeper->keeps(); });
  }

 private:
  friend class Keeper;
  const rank_t ranks_;
  std::vector<Keeper*> keepers_;
};

}  // namespace stripline::rma
