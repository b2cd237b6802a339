// Symmetric addresses: which bytes of this process are symmetric, and where they are in the segment
// of a rank. The heap is memory of the segment; static data are at addresses of their own, which
// show the same memory (static_data.h). Offsets are the same on every PE, addresses need not be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace stripline::shmem {

/// Bytes of this process that are symmetric, and their offset in the segment.
struct SymmetricRange {
  uintptr_t begin = 0;
  size_t bytes = 0;
  uint64_t offset = 0;
};

class Addresses {
 public:
  static constexpr uint64_t kNowhere = std::numeric_limits<uint64_t>::max();

  /// The heap first, for it is looked at first.
  void add(const SymmetricRange& range) { ranges_.push_back(range); }

  /// The offset of these bytes; kNowhere if they are not within one range. No bytes are where they
  /// begin.
  uint64_t offset_of(const void* address, size_t bytes) const {
    const auto place = reinterpret_cast<uintptr_t>(address);
    for (const SymmetricRange& range : ranges_) {
      const uintptr_t distance = place - range.begin;  // huge below the range
      if (distance < range.bytes && bytes <= range.bytes - distance) return range.offset + distance;
    }
    return kNowhere;
  }

 private:
  std::vector<SymmetricRange> ranges_;
};

}  // namespace stripline::shmem
