// The data of a request as blocks, granules and strips. For the files of this folder.
#pragma once

#include <algorithm>
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
  explicit SizeUnit(uint64_t unit) : bytes_(unit), mask_((unit & (unit - 1)) == 0 ? unit - 1 : 0) {}
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

inline uint64_t granule_bytes(const StripRequest& request) {
  const uint64_t bytes = saturating_multiply(request.element_bytes, request.granule_elements);
  return bytes == 0 ? 1 : bytes;
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

// The sizes of a request, worked out once: every candidate asks for them.
class StripShape {
 public:
  explicit StripShape(const StripRequest& request)
      : total(request.total_bytes),
        blocks(request.blocks == 0 ? 1 : request.blocks),
        blocks_per_peer(request.peers > 1 ? blocks / std::min<uint64_t>(request.peers, blocks)
                                          : blocks),
        block(SizeUnit(request.element_bytes == 0 ? 1 : request.element_bytes)
                  .up(blocks == 1 ? total : (total + blocks - 1) / blocks)),
        largest_block(std::max(request.largest_block_bytes, block)),
        halo(request.direction == Direction::get ? request.halo_bytes : 0),
        slots(std::max<uint64_t>(request.slot_alignment, 1)),
        whole(whole_bytes(request)),
        piece(largest_piece(request)) {}

  /// Bytes of a strip's place in the buffers.
  uint64_t slot(uint64_t strip) const { return slots.up(saturating_add(strip, halo)); }
  uint64_t strips_per_block(uint64_t strip) const {
    return strip == 0 || strip >= block ? 1 : (block + strip - 1) / strip;
  }
  uint64_t strips(uint64_t strip) const {
    return saturating_multiply(blocks, strips_per_block(strip));
  }

  const uint64_t total;
  const uint64_t blocks;
  const uint64_t blocks_per_peer;  ///< consecutive ones of one rank
  const uint64_t block;            ///< of one of the contiguous regions, the mean if they differ
  const uint64_t largest_block;
  const uint64_t halo;
  const SizeUnit slots;
  const uint64_t whole;  ///< buffer bytes of schedule A
  const uint64_t piece;  ///< the largest strip whose blocking transfer the buffer holds

 private:
  // If blocks differ, each may leave nearly a unit unused.
  uint64_t whole_bytes(const StripRequest& request) const {
    uint64_t unused = 0;
    if (!request.placed && slots.bytes() > 1) {
      const bool equal = saturating_multiply(largest_block, blocks) == total;
      unused =
          equal ? slot(largest_block) - saturating_add(largest_block, halo) : slots.bytes() - 1;
    }
    return saturating_add(total, saturating_multiply(saturating_add(halo, unused), blocks));
  }
  uint64_t largest_piece(const StripRequest& request) const {
    if (slot(block) <= request.max_buffer_bytes) return block;
    const uint64_t granule = granule_bytes(request);
    const uint64_t fitting = slots.down(request.max_buffer_bytes);
    const uint64_t room = fitting > halo ? fitting - halo : 0;
    return std::clamp(room / granule * granule, std::min(granule, block), block);
  }
};

}  // namespace stripline::plan::detail
