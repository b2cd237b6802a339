// Transfers given as lists (vector, indexed): pairs of a remote and a local region, or elements by
// their numbers on either side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/fabric/fabric.h"
#include "runtime/vis/strided.h"

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

/// Elements of one size, by their numbers on either side.
struct Elements {
  uint64_t offset = 0;               ///< of element 0 in the target's segment
  std::byte* memory = nullptr;       ///< of element 0 here
  uint64_t bytes = 0;                ///< of one
  std::span<const uint32_t> remote;  ///< numbers; empty: 0, 1, 2, ...
  std::span<const uint32_t> local;   ///< likewise

  Region operator[](size_t i) const {
    return {offset + (remote.empty() ? i : remote[i]) * bytes,
            memory + (local.empty() ? i : local[i]) * bytes, bytes};
  }
};

/// What a transfer of a list moves. Numbers of elements stay where they are while it is used.
class RegionList {
 public:
  /// What there is to know of the list as a whole.
  struct Facts {
    Extent remote;
    uint64_t bytes = 0;
    uint64_t remote_regions = 0;  ///< contiguous pieces of the target, one after the other
    uint64_t local_regions = 0;   ///< and of this rank's memory
  };

  RegionList() = default;
  /// At least one region, none of them empty.
  explicit RegionList(std::vector<Region> pieces);
  /// `count` elements, at least one; `facts` are theirs.
  RegionList(const Elements& elements, size_t count, const Facts& facts)
      : elements_(elements), size_(count), facts_(facts) {}

  /// Pieces, or elements.
  size_t size() const { return size_; }
  Region operator[](size_t i) const { return pieces_.empty() ? elements_[i] : pieces_[i]; }
  uint64_t bytes_of(size_t i) const { return pieces_.empty() ? elements_.bytes : pieces_[i].bytes; }
  /// Elements that follow one another are put together as they are visited.
  bool has_elements() const { return pieces_.empty(); }
  /// Regions as they are visited; of elements, as the target has them.
  uint64_t regions() const { return has_elements() ? facts_.remote_regions : size_; }
  const Facts& facts() const { return facts_; }
  /// True if the remote bytes, in order, have no gaps.
  bool in_one_place() const { return facts_.remote_regions == 1; }

 private:
  std::vector<Region> pieces_;
  Elements elements_;
  size_t size_ = 0;
  Facts facts_;
};

/// Position in the stream that the regions' bytes form.
class RegionCursor {
 public:
  /// The list stays where it is while the cursor is used.
  void start(const RegionList& list) {
    list_ = &list;
    index_ = 0;
    within_ = 0;
    position_ = 0;
  }
  bool done() const { return index_ == list_->size(); }
  /// Bytes before the cursor.
  uint64_t position() const { return position_; }
  /// The next bytes that are contiguous on both sides, at most `limit`. Not when done().
  Region peek(uint64_t limit) const {
    Region region = (*list_)[index_];
    if (list_->has_elements() && region.bytes - within_ < limit) merge(region, within_ + limit);
    const uint64_t left = region.bytes - within_;
    return {region.offset + within_, region.memory + within_, left < limit ? left : limit};
  }
  /// Past `bytes`, of any number of regions, which must be there.
  void skip(uint64_t bytes) {
    position_ += bytes;
    within_ += bytes;
    while (index_ < list_->size() && within_ >= list_->bytes_of(index_)) {
      within_ -= list_->bytes_of(index_);
      ++index_;
    }
  }

 private:
  // Elements that are looked at together, which bounds what is looked at twice.
  static constexpr size_t kMostMerged = 64;

  // What follows the first region on both sides, until they are of `bytes`.
  void merge(Region& region, uint64_t bytes) const {
    const size_t end = std::min(list_->size(), index_ + kMostMerged);
    for (size_t next = index_ + 1; next < end && region.bytes < bytes; ++next) {
      const Region more = (*list_)[next];
      if (more.offset != region.offset + region.bytes ||
          more.memory != region.memory + region.bytes) {
        return;
      }
      region.bytes += more.bytes;
    }
  }

  const RegionList* list_ = nullptr;
  size_t index_ = 0;
  uint64_t within_ = 0;
  uint64_t position_ = 0;
};

}  // namespace stripline::vis
