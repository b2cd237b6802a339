// Puts and gets of a burst, which are kept until its end, and then made by one transfer of many
// regions for each rank (Chen, Optimizing PGAS Programs for Cluster Architectures, 2007, section
// 7.1.3). What would be seen to come in another order ends the burst before it is added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <stripline/global_ptr.h>

#include "optimizer/plan/methods.h"

namespace stripline::bulk {

/// A set of numbers, as ranges that do not touch. O(log n).
class RangeSet {
 public:
  bool overlaps(uint64_t begin, uint64_t end) const;
  void add(uint64_t begin, uint64_t end);
  void clear() { ranges_.clear(); }

 private:
  std::map<uint64_t, uint64_t> ranges_;  // ends by begins
};

/// One side in another rank's segment, the other in this process.
struct Piece {
  rank_t rank = 0;
  uint64_t offset = 0;
  std::byte* memory = nullptr;
  uint64_t bytes = 0;
};

/// A value; no network. Not thread-safe.
class Aggregation {
 public:
  /// Pieces that are kept at most; with more the burst is made in parts.
  static constexpr size_t kMaxPieces = size_t{1} << 16;

  using Direction = plan::Direction;
  struct Batch {
    Direction direction = Direction::put;
    std::vector<Piece> pieces;  ///< of one rank, in the order in which they were added
  };

  bool empty() const { return pieces_ == 0; }
  bool full() const { return pieces_ >= kMaxPieces; }

  /// True if this piece and one that is kept depend on each other: one stores what the other one
  /// reads or stores, at either side.
  bool depends(Direction direction, const Piece& piece) const;
  /// The same of a copy in memory of this process, which is made at once.
  bool depends_on_copy(const std::byte* from, const std::byte* to, uint64_t bytes) const;

  void add(Direction direction, const Piece& piece);
  /// All that was added, gets first: they are waited for.
  std::vector<Batch> take();

 private:
  struct OfRank {
    Batch puts{Direction::put, {}};
    Batch gets{Direction::get, {}};
    RangeSet stored;  // in its segment
    RangeSet read;
  };

  std::map<rank_t, OfRank> ranks_;
  RangeSet stored_here_;  // addresses of this process
  RangeSet read_here_;
  size_t pieces_ = 0;
};

}  // namespace stripline::bulk
