// Transfers given as lists (vector, indexed): pairs of a remote and a local region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/fabric/fabric.h"

namespace stripline::vis {

struct LocalPiece {
  std::byte* memory = nullptr;
  uint64_t bytes = 0;
};
struct RemotePiece {
  uint64_t offset = 0;  ///< in the target's segment
  uint64_t bytes = 0;
};

/// Bytes that are contiguous on both sides.
using Region = fabric::Piece;

/// The most that 64 bits hold, if it is more.
uint64_t total_bytes(std::span<const LocalPiece> pieces);
uint64_t total_bytes(std::span<const RemotePiece> pieces);

/// Pairs the bytes of two lists of the same total, in order: a region ends where a piece of either
/// list ends, unless both lists go on where they were. Pieces of no bytes disappear.
void match(std::span<const RemotePiece> remote, std::span<const LocalPiece> local,
           std::vector<Region>& regions);

/// True if the remote bytes, in order, have no gaps. Not of no regions.
bool in_one_place(std::span<const Region> regions);

/// Position in the stream that the regions' bytes form.
class RegionCursor {
 public:
  void start(std::span<const Region> regions) {
    regions_ = regions;
    index_ = 0;
    within_ = 0;
    position_ = 0;
  }
  bool done() const { return index_ == regions_.size(); }
  /// Bytes before the cursor.
  uint64_t position() const { return position_; }
  /// The next bytes that are contiguous on both sides, at most `limit`. Not when done().
  Region peek(uint64_t limit) const {
    const Region& region = regions_[index_];
    const uint64_t left = region.bytes - within_;
    return {region.offset + within_, region.memory + within_, left < limit ? left : limit};
  }
  /// Past `bytes`, of any number of regions, which must be there.
  void skip(uint64_t bytes) {
    position_ += bytes;
    within_ += bytes;
    while (index_ < regions_.size() && within_ >= regions_[index_].bytes) {
      within_ -= regions_[index_].bytes;
      ++index_;
    }
  }

 private:
  std::span<const Region> regions_;
  size_t index_ = 0;
  uint64_t within_ = 0;
  uint64_t position_ = 0;
};

}  // namespace stripline::vis
