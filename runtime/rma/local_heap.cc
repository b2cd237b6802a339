#include "runtime/rma/local_heap.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace stripline::rma {

Result<uint64_t> LocalHeap::allocate(uint64_t bytes, uint64_t symmetric_end) {
  const uint64_t lowest = symmetric_end + kGap;
  const uint64_t room = begin_ > lowest ? begin_ - lowest : 0;
  const auto exhausted = [&] {
    uint64_t between = 0;
    for (const auto& [offset, size] : free_) between = std::max(between, size);
    return Error(ErrorCode::resource_exhausted,
                 "cannot allocate " + std::to_string(bytes) +
                     " bytes of this rank's segment: " + std::to_string(std::max(room, between)) +
                     " of " + std::to_string(segment_bytes_) +
                     " bytes are free in one piece; raise the segment with 'stripline run "
                     "--segment SIZE' or STRIPLINE_SEGMENT_BYTES");
  };
  if (bytes > segment_bytes_) return exhausted();
  const uint64_t needed = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  auto best = free_.end();
  for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
    if (gap->second >= needed && (best == free_.end() || gap->second < best->second)) best = gap;
  }
  uint64_t offset = 0;
  if (best != free_.end()) {
    offset = best->first + best->second - needed;
    best->second -= needed;
    if (best->second == 0) free_.erase(best);
  } else {
    if (needed > room) return exhausted();
    begin_ -= needed;
    offset = begin_;
  }
  allocated_.emplace(offset, needed);
  return offset;
}

Status LocalHeap::free(uint64_t offset) {
  const auto block = allocated_.find(offset);
  if (block == allocated_.end()) {
    return Error(ErrorCode::invalid_argument,
                 "nothing that allocate_local() returned starts at offset " +
                     std::to_string(offset) +
                     "; deallocate_local takes the pointer that allocate_local returned, once");
  }
  uint64_t size = block->second;
  allocated_.erase(block);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && offset + size == next->first) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      size += previous->second;
      free_.erase(previous);
    }
  }
  if (offset == begin_) {
    begin_ += size;
  } else {
    free_.emplace(offset, size);
  }
  return {};
}

}  // namespace stripline::rma
