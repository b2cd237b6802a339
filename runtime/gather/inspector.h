// What a rank reads of a distributed array through an index, worked out once: of which owner, which
// different elements, and where in them each read finds its own (the inspector of Su, Optimizing
// Irregular Data Accesses for Cluster and Multicore Architectures, 2010, chapter 4). Linear in the
// reads where an owner's elements lie dense or are read in ascending order; else they are sorted.
//
// Plain values; no communication.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <stripline/gather_plan.h>

namespace stripline::gathers {

/// The reads of one owner's elements.
struct OwnerReads {
  rank_t owner = 0;
  size_t begin = 0;  ///< in Inspection::order
  size_t end = 0;
  std::vector<uint32_t> places;  ///< different ones, ascending; not of this rank itself
  uint64_t runs = 0;             ///< pieces of consecutive places; likewise

  uint32_t first() const { return places.front(); }
  /// From the first to the last place, in elements.
  uint64_t span() const { return uint64_t{places.back()} - places.front() + 1; }
};

struct Inspection {
  /// The numbers of the reads by owner, those of one owner ascending; this rank's own come first.
  std::vector<uint32_t> order;
  /// Beside `order`: a place of this rank's own, or the number of one among OwnerReads::places.
  std::vector<uint32_t> slots;
  /// This rank first, also if it reads nothing of its own; the others ascending.
  std::vector<OwnerReads> owners;
};

/// Pieces of consecutive places, which ascend.
uint64_t runs_of(std::span<const uint32_t> places);

/// `reads` are at most 2^32, each of a rank below `ranks`.
Inspection inspect(std::span<const detail::GatherPlace> reads, rank_t me, rank_t ranks);

}  // namespace stripline::gathers
