// The allocator of the shared segment. It is a pure function of the sequence of calls: ranks that
// make the same calls get the same offsets without talking to each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>

#include "base/result.h"

namespace stripline::rma {

class SymmetricHeap {
 public:
  /// A cache line, and the widest vector load.
  static constexpr uint64_t kAlignment = 64;

  explicit SymmetricHeap(uint64_t segment_bytes);

  /// First fit by offset, below `below`, where memory of single ranks begins (LocalHeap). Zero
  /// bytes take one unit of alignment, so that every array has an offset of its own. Errors:
  /// resource_exhausted, with the room left and how to get more.
  Result<uint64_t> allocate(uint64_t bytes, uint64_t below = std::numeric_limits<uint64_t>::max());

  /// Gives back what allocate() returned; neighbouring free blocks become one.
  /// Errors: invalid_argument if no array starts at `offset`.
  Status free(uint64_t offset);

  /// What the array that begins at `offset` takes; 0: none does.
  uint64_t size_of(uint64_t offset) const {
    const auto found = allocated_.find(offset);
    return found == allocated_.end() ? 0 : found->second;
  }

  uint64_t free_bytes() const { return free_bytes_; }
  /// Where the last array ends.
  uint64_t end() const;
  uint64_t largest_free_block() const;

 private:
  uint64_t segment_bytes_;
  uint64_t free_bytes_;
  std::map<uint64_t, uint64_t> free_;       // offset -> size
  std::map<uint64_t, uint64_t> allocated_;  // offset -> size
};

}  // namespace stripline::rma
