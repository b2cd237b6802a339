// Nests written out as loops, to compare with what the engine does. For the tests of this folder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <stripline/nest.h>

#include "base/random.h"

namespace stripline {

/// Sets what an iteration writes from all that it reads and where it is. Returns a number that
/// depends on all of that.
inline uint64_t set_by_all_it_reads(const access::Nest& nest,
                                    const std::array<uint64_t, access::kMaxDepth>& at,
                                    std::span<std::byte* const> element) {
  uint64_t sum = 1;
  for (uint32_t loop = 0; loop < nest.depth; ++loop) sum = sum * 31 + at[loop];
  for (uint32_t r = 0; r < nest.references(); ++r) {
    if (!reads(nest.reference[r].mode)) continue;
    for (uint32_t byte = 0; byte < nest.reference[r].element_bytes; ++byte) {
      sum = sum * 31 + static_cast<uint64_t>(element[r][byte]);
    }
  }
  for (uint32_t r = 0; r < nest.references(); ++r) {
    if (!writes(nest.reference[r].mode)) continue;
    for (uint32_t byte = 0; byte < nest.reference[r].element_bytes; ++byte) {
      element[r][byte] = static_cast<std::byte>(sum = sum * kGoldenRatio + (sum >> 32) + r);
    }
  }
  return sum;
}

/// Visits the numbers of all iterations in order.
template <typename Visit>
void for_each_iteration(const access::Nest& nest, const Visit& visit) {
  std::array<uint64_t, access::kMaxDepth> at{};
  while (true) {
    visit(at);
    uint32_t loop = nest.depth;
    while (loop > 0 && ++at[loop - 1] == nest.counts[loop - 1]) at[--loop] = 0;
    if (loop == 0) return;
  }
}

/// Visits those of a tile, with the elements.
template <typename Visit>
void for_each_iteration(const access::Nest& nest, const detail::NestTile& tile,
                        const Visit& visit) {
  access::Nest part = nest;
  for (uint32_t loop = 0; loop < tile.cut_loop; ++loop) part.counts[loop] = 1;
  part.counts[tile.cut_loop] = tile.count;
  for_each_iteration(part, [&](const auto& at) {
    std::array<std::byte*, access::kMaxReferences> element = tile.element;
    std::array<uint64_t, access::kMaxDepth> number = tile.first;
    for (uint32_t loop = 0; loop < part.depth; ++loop) {
      number[loop] += at[loop];
      for (uint32_t r = 0; r < part.references(); ++r) {
        element[r] += tile.stride_bytes[r][loop] * static_cast<int64_t>(at[loop]);
      }
    }
    visit(number, element);
  });
}

/// Where an iteration finds an element in the memories of all ranks, one behind the other.
inline size_t place_of(const access::Reference& reference,
                       const std::array<uint64_t, access::kMaxDepth>& at, size_t rank_bytes) {
  int64_t offset = reference.base;
  uint32_t owner = reference.owner;
  if (reference.in_pieces()) {
    const access::Piece& piece = reference.pieces[at[reference.piece_loop]];
    owner = piece.owner;
    offset += piece.base;
  }
  for (size_t loop = 0; loop < access::kMaxDepth; ++loop) {
    offset += reference.stride_bytes[loop] * static_cast<int64_t>(at[loop]);
  }
  return owner * rank_bytes + static_cast<size_t>(offset);
}

/// Runs the nest on such memories, iteration by iteration. Returns what all of them say, in order.
inline uint64_t run_plainly(const access::Nest& nest, size_t rank_bytes,
                            std::vector<std::byte>& memories) {
  uint64_t said = 0;
  for_each_iteration(nest, [&](const auto& at) {
    std::array<std::byte*, access::kMaxReferences> element{};
    std::array<std::array<std::byte, 8>, access::kMaxReferences> copies{};
    for (uint32_t r = 0; r < nest.references(); ++r) {
      const access::Reference& reference = nest.reference[r];
      element[r] = copies[r].data();
      std::memcpy(element[r], &memories[place_of(reference, at, rank_bytes)],
                  reference.element_bytes);
    }
    said = said * 3 + set_by_all_it_reads(nest, at, element);
    for (uint32_t r = 0; r < nest.references(); ++r) {
      const access::Reference& reference = nest.reference[r];
      if (!writes(reference.mode)) continue;
      std::memcpy(&memories[place_of(reference, at, rank_bytes)], element[r],
                  reference.element_bytes);
    }
  });
  return said;
}

}  // namespace stripline
