// The data of a request as blocks, granules and strips. For the files of this folder.
#pragma once

#include <algorithm>
#include <cstdint>

#include "optimizer/access/saturate.h"
#include "optimizer/plan/strip.h"

namespace stripline::plan::detail {

using access::saturating_add;
using access::saturating_multiply;

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

// Bytes of one of the contiguous regions, the largest if they differ.
inline uint64_t block_bytes(const StripRequest& request) {
  const uint64_t element = request.element_bytes == 0 ? 1 : request.element_bytes;
  const uint64_t blocks = blocks_of(request);
  return round_up((request.total_bytes + blocks - 1) / blocks, element);
}

// Buffer bytes of schedule A.
inline uint64_t whole_bytes(const StripRequest& request) {
  return saturating_add(request.total_bytes,
                        saturating_multiply(halo_of(request), blocks_of(request)));
}

// The largest strip whose blocking transfer the buffer holds.
inline uint64_t largest_piece(const StripRequest& request) {
  const uint64_t total = block_bytes(request);
  if (saturating_add(total, request.halo_bytes) <= request.max_buffer_bytes) return total;
  const uint64_t granule = granule_bytes(request);
  const uint64_t room = request.max_buffer_bytes > request.halo_bytes
                            ? request.max_buffer_bytes - request.halo_bytes
                            : 0;
  return std::clamp(room / granule * granule, std::min(granule, total), total);
}

inline uint64_t strips_per_block(uint64_t block, uint64_t strip) {
  return strip == 0 || strip >= block ? 1 : (block + strip - 1) / strip;
}

inline uint64_t strip_count(const StripRequest& request, uint64_t strip) {
  return saturating_multiply(blocks_of(request), strips_per_block(block_bytes(request), strip));
}

}  // namespace stripline::plan::detail
