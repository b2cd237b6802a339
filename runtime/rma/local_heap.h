// What one rank allocates by itself in its segment: from the end of it downwards, so that the
// symmetric heap, which grows from the beginning, stays the same on all ranks.
#pragma once

#include <cstdint>
#include <map>

#include "base/result.h"

namespace stripline::rma {

class LocalHeap {
 public:
  static constexpr uint64_t kAlignment = 64;
  /// Kept free between this and the symmetric heap: who runs over the end of a symmetric array does
  /// not meet this at once, and debug mode can tell the two apart.
  static constexpr uint64_t kGap = 4096;

  explicit LocalHeap(uint64_t segment_bytes)
      : segment_bytes_(segment_bytes), begin_(segment_bytes / kAlignment * kAlignment) {}

  /// The smallest gap that is large enough, else below everything; not below `symmetric_end` +
  /// kGap. Zero bytes take one unit of alignment. Errors: resource_exhausted.
  Result<uint64_t> allocate(uint64_t bytes, uint64_t symmetric_end);

  /// Gives back what allocate() returned. Errors: invalid_argument if nothing starts at `offset`.
  Status free(uint64_t offset);

  /// Symmetric arrays end here at the latest.
  uint64_t free_below() const {
    if (allocated_.empty()) return segment_bytes_;
    return begin_ > kGap ? begin_ - kGap : 0;
  }

 private:
  uint64_t segment_bytes_;
  uint64_t begin_;                          // the lowest block begins here
  std::map<uint64_t, uint64_t> allocated_;  // offset -> size
  std::map<uint64_t, uint64_t> free_;       // between blocks; offset -> size, never neighbours
};

}  // namespace stripline::rma
