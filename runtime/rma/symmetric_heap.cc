#include "runtime/rma/symmetric_heap.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace stripline::rma {

SymmetricHeap::SymmetricHeap(uint64_t segment_bytes)
    : segment_bytes_(segment_bytes), free_bytes_(segment_bytes / kAlignment * kAlignment) {
  if (free_bytes_ > 0) free_.emplace(0, free_bytes_);
}

uint64_t SymmetricHeap::largest_free_block() const {
  uint64_t largest = 0;
  for (const auto& [offset, size] : free_) largest = std::max(largest, size);
  return largest;
}

uint64_t SymmetricHeap::end() const {
  return allocated_.empty() ? 0 : allocated_.rbegin()->first + allocated_.rbegin()->second;
}

Result<uint64_t> SymmetricHeap::allocate(uint64_t bytes, uint64_t below) {
  const bool shared = below < segment_bytes_;  // with memory of single ranks
  const auto exhausted = [&] {
    return Error(ErrorCode::resource_exhausted,
                 "cannot allocate " + std::to_string(bytes) +
                     " bytes of shared memory per rank: " + std::to_string(free_bytes_) + " of " +
                     std::to_string(segment_bytes_) + " bytes are free, " +
                     std::to_string(largest_free_block()) + " of them in one piece" +
                     (shared ? ", of which ranks have taken by allocate_local() what lies above " +
                                   std::to_string(below)
                             : std::string()) +
                     "; raise the segment with 'stripline run --segment SIZE' "
                     "or STRIPLINE_SEGMENT_BYTES");
  };
  if (bytes > segment_bytes_) return exhausted();
  const uint64_t needed = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  const auto block = std::find_if(free_.begin(), free_.end(),
                                  [&](const auto& entry) { return entry.second >= needed; });
  if (block == free_.end()) return exhausted();
  if (shared && block->first + needed > below) return exhausted();
  const auto [offset, size] = *block;
  free_.erase(block);
  if (size > needed) free_.emplace(offset + needed, size - needed);
  allocated_.emplace(offset, needed);
  free_bytes_ -= needed;
  return offset;
}

Status SymmetricHeap::free(uint64_t offset) {
  const auto block = allocated_.find(offset);
  if (block == allocated_.end()) {
    return Error(ErrorCode::invalid_argument,
                 "no symmetric array starts at offset " + std::to_string(offset) +
                     "; delete_symmetric_array takes the pointer that new_symmetric_array "
                     "returned, once");
  }
  uint64_t start = offset;
  uint64_t size = block->second;
  free_bytes_ += size;
  allocated_.erase(block);
  auto next = free_.lower_bound(start);
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == start) {
      start = previous->first;
      size += previous->second;
      free_.erase(previous);
    }
  }
  if (next != free_.end() && start + size == next->first) {
    size += next->second;
    free_.erase(next);
  }
  free_.emplace(start, size);
  return {};
}

}  // namespace stripline::rma
