// Updates of other ranks' cells that are summed up in memory of this rank, until an epoch ends or
// is flushed: an array stands for a part of an owner's segment, and is updated as this rank's own
// cells are. Then each cell is sent once, however many updates it got. A lane merges updates, too,
// but looks for the cell of each, and only among those in its buffer.
//
// Cells that no one has updated hold the identity of the operator, so that one update by the value
// of a cell is the same as all of its updates: op(op(a, e), v) = op(a, op(e, v)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include <stripline/update.h>

#include "runtime/update/parcel.h"

namespace stripline::update {

/// What the updates of an owner's cells were since they were last looked at.
struct CellsSeen {
  // Updates that were written into its lane:
  uint64_t updates = 0;  ///< merged ones, too
  uint64_t lowest = std::numeric_limits<uint64_t>::max();
  uint64_t highest = 0;
  double pairs = 0;     ///< of updates in one buffer, where they were looked for
  uint64_t merged = 0;  ///< of these, into one that was there
  // Updates that were summed up:
  uint64_t summed = 0;  ///< updates
  uint64_t sent = 0;    ///< cells that were left of them

  /// A buffer of cells counted from `first` on. `looked`: updates of one cell have been merged.
  void add(uint64_t first, std::span<const Cell> cells, uint64_t merged_here, bool looked);

  /// About how many different cells those in the lane had: of n updates of D cells, n^2 / 2D meet
  /// as long as they are few. Not more than there are between the lowest and the highest.
  double cells() const;
  /// Each cell gets enough updates that summing them up first takes less than sending them: those
  /// in the lane would, and those that were summed up in an array of `extent` cells did, which has
  /// not more marks to go through than there were updates.
  bool would_pay() const;
  bool pays(uint64_t extent) const;
};

class Accumulators {
 public:
  Accumulators(const detail::UpdateType& type, rank_t ranks);

  /// The operator has an identity, and no cells overlap. Whether updates may be merged is another
  /// question.
  static bool possible(const detail::UpdateType& type);

  /// What all of them take, and what one for this number of cells would.
  uint64_t bytes() const { return bytes_; }
  uint64_t bytes_for(uint64_t cells) const;

  /// Updates of the owner's cells [first, first + cells), or some more, are summed up from now on.
  void open(detail::UpdateLane& lane, rank_t owner, uint64_t first, uint64_t cells);
  /// The same for the one that there is already, and a lane that has begun once more; nothing
  /// without one.
  void attach(detail::UpdateLane& lane, rank_t owner);
  /// No more. Requires that none is held.
  void close(detail::UpdateLane& lane, rank_t owner);
  /// Forgets all of them, whose lanes are no longer used.
  void reset();

  /// Some updates are held.
  bool hold_any() const;
  /// visit(cell, value), in ascending order, for all cells of an owner that are held.
  template <typename Visit>
  void each(rank_t owner, Visit visit) const {
    const Accumulator& one = by_owner_[owner];
    const size_t bytes = type_.value_bytes;
    for (size_t mark = 0; mark < one.marks.size(); ++mark) {
      if (one.marks[mark] == 0) continue;
      for (uint64_t i = mark * detail::kMarkedCells; i < (mark + 1) * detail::kMarkedCells; ++i) {
        const std::byte* const value = one.cells.data() + i * bytes;
        if (std::memcmp(value, identity_.data(), bytes) != 0) visit(one.first + i, value);
      }
    }
  }
  /// Holds none of an owner any more. Returns the bytes that were gone through.
  uint64_t clear(rank_t owner);

 private:
  struct Accumulator {
    uint64_t first = 0;
    std::vector<std::byte> cells;
    std::vector<uint8_t> marks;
  };

  const detail::UpdateType type_;
  std::vector<std::byte> identity_;
  std::vector<Accumulator> by_owner_;
  uint64_t bytes_ = 0;
};

}  // namespace stripline::update
