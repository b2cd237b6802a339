// The data of a request as blocks, granules and strips. For the files of this folder.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "optimizer/access/saturate.h"
#include "optimizer/plan/strip.h"

namespace stripline::plan::detail {

using access::saturating_add;
using access::saturating_multiply;

// What sizes are rounded to. Divisions are most of what the list of sizes costs, and most units are
// powers of two.
class SizeUnit {
 public:
  explicit SizeUnit(uint64_t unit)
      : bytes_(unit), mask_(std::has_single_bit(unit) ? unit - 1 : 0) {}
  uint64_t bytes() const { return bytes_; }
  bool is_power_of_two() const { return bytes_ == mask_ + 1; }
  uint64_t up(uint64_t value) const { return down(saturating_add(value, bytes_ - 1)); }
  uint64_t down(uint64_t value) const {
    return is_power_of_two() ? value & ~mask_ : value / bytes_ * bytes_;
  }

 private:
  uint64_t bytes_;
  uint64_t mask_;  // bytes_ - 1, or 0
};

inline uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

inline uint64_t granule_bytes(const StripRequest& request) {
  const uint64_t bytes = saturating_multiply(request.element_bytes, request.granule_elements);
  return bytes == 0 ? 1 : bytes;
}

inline uint64_t halo_of(const StripRequest& request) {
  return request.direction == Direction::get ? request.halo_bytes : 0;
}

inline uint64_t blocks_of(const StripRequest& request) {
  return request.blocks == 0 ? 1 : request.blocks;
}

// Consecutive blocks of one rank.
inline uint64_t blocks_per_peer(const StripRequest& request) {
  return blocks_of(request) / std::clamp<uint64_t>(request.peers, 1, blocks_of(request));
}

// True if the loop's messages come among those of other ranks at their targets.
inline bool finds_others(const StripRequest& request) {
  return request.uneven && request.peers > 1 && request.direction == Direction::get;
}

// True if the ranks of the loop get from different peers at a time.
inline bool goes_in_step(const StripRequest& request) {
  return !request.uneven && request.peers > 1 && request.direction == Direction::get;
}

// True if gets wait for the peers' computation.
inline bool waits_for_peers(const StripRequest& request) {
  return request.surroundings.target_polls_only && request.direction == Direction::get;
}

// Bytes of one of the contiguous regions, the mean if they differ.
inline uint64_t block_bytes(const StripRequest& request) {
  const uint64_t element = request.element_bytes == 0 ? 1 : request.element_bytes;
  const uint64_t blocks = blocks_of(request);
  return round_up((request.total_bytes + blocks - 1) / blocks, element);
}

inline uint64_t largest_block(const StripRequest& request) {
  return std::max(request.largest_block_bytes, block_bytes(request));
}

inline SizeUnit slot_unit(const StripRequest& request) {
  return SizeUnit(std::max<uint64_t>(request.slot_alignment, 1));
}

// Bytes of a strip's place in the buffers.
inline uint64_t slot_bytes(const StripRequest& request, uint64_t strip) {
  return slot_unit(request).up(saturating_add(strip, halo_of(request)));
}

// Buffer bytes of schedule A. Of blocks that differ, each may leave nearly a unit unused.
inline uint64_t whole_bytes(const StripRequest& request) {
  const uint64_t blocks = blocks_of(request);
  const uint64_t halo = halo_of(request);
  uint64_t unused = 0;
  if (!request.placed && request.slot_alignment > 1) {
    const uint64_t largest = largest_block(request);
    const bool equal = saturating_multiply(largest, blocks) == request.total_bytes;
    unused = equal ? slot_bytes(request, largest) - saturating_add(largest, halo)
                   : request.slot_alignment - 1;
  }
  return saturating_add(request.total_bytes,
                        saturating_multiply(saturating_add(halo, unused), blocks));
}

// The largest strip whose blocking transfer the buffer holds.
inline uint64_t largest_piece(const StripRequest& request) {
  const uint64_t total = block_bytes(request);
  if (slot_bytes(request, total) <= request.max_buffer_bytes) return total;
  const uint64_t granule = granule_bytes(request);
  const uint64_t slot = slot_unit(request).down(request.max_buffer_bytes);
  const uint64_t halo = halo_of(request);
  const uint64_t room = slot > halo ? slot - halo : 0;
  return std::clamp(room / granule * granule, std::min(granule, total), total);
}

inline uint64_t strips_per_block(uint64_t block, uint64_t strip) {
  return strip == 0 || strip >= block ? 1 : (block + strip - 1) / strip;
}

inline uint64_t strip_count(const StripRequest& request, uint64_t strip) {
  return saturating_multiply(blocks_of(request), strips_per_block(block_bytes(request), strip));
}

}  // namespace stripline::plan::detail
