// Linear memory access descriptors: which bytes a reference inside of a loop nest touches, as a
// base and one dimension per loop index (Iancu, Chen and Yelick, section 4; the notation is that of
// Paek, Hoeflinger and Padua, TOPLAS 24(1), 2002).
//
// A descriptor is a set of runs: `run_bytes` bytes at base + i1*stride1 + i2*stride2 + ..., for all
// indices 0 <= ik < countk. Everything here is about that set; in which order a loop goes through
// it is what the loop itself knows. Offsets are bytes from wherever the caller counts, strides may
// be negative until canonical().
//
// Values; no allocation, no failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "optimizer/access/few.h"

namespace stripline::access {

/// Loops around a reference, and what interleaving adds.
inline constexpr size_t kMaxDimensions = 8;

struct Dimension {
  int64_t stride_bytes = 0;  ///< travelled when the index increments
  uint64_t count = 1;        ///< indices; at least 1

  /// Distance between the first and the last run of this dimension alone.
  int64_t span_bytes() const { return stride_bytes * static_cast<int64_t>(count - 1); }
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

/// Bytes [begin, end).
struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
  uint64_t bytes() const { return static_cast<uint64_t>(end) - static_cast<uint64_t>(begin); }
};

struct Lmad {
  int64_t base = 0;
  uint64_t run_bytes = 0;  ///< of the element, or of what has been coalesced; at least 1
  Few<Dimension, kMaxDimensions> dims;

  /// With one dimension more. False, and unchanged, if there is no room.
  bool add(Dimension dimension);
  /// All bytes lie within.
  Extent extent() const;
  /// True if the bytes form one region. Of canonical descriptors.
  bool contiguous() const { return dims.size() == 0; }
  /// Runs: the product of the counts.
  uint64_t runs() const;
  /// "[1000 + 0..9 * 64 + 0..3 * 8]: 8 B", for reports.
  std::string text() const;
  friend bool operator==(const Lmad& a, const Lmad& b);
};

/// The same bytes with positive strides in increasing order and as few dimensions as the rules
/// find: dimensions that do not move are dropped, runs that touch or overlap are coalesced, and two
/// dimensions become one where the larger stride continues the smaller ("coalescible").
Lmad canonical(const Lmad& lmad);

/// True if two runs of a canonical descriptor ever share bytes: not if each stride exceeds what
/// lies within it, which is sufficient and, for what loops over arrays do, also necessary.
bool runs_are_distinct(const Lmad& canonical);

enum class Overlap { disjoint, overlapping, unknown };

/// Tells whether two sets share a byte. Exact; `unknown` only where strides without a common
/// structure would take more than a bounded number of steps (some microseconds).
Overlap overlap(const Lmad& a, const Lmad& b);

/// How two references became one.
enum class Union {
  identical,    ///< the same bytes, or the second within the first: redundant
  contiguous,   ///< the second continues, or overlaps, the first in one dimension
  interleaved,  ///< streams of equal strides side by side
};
const char* to_string(Union kind);

struct Merged {
  Lmad lmad;  ///< canonical; exactly the bytes of both
  Union kind = Union::identical;
  /// How far the second begins behind the first, in bytes: with the stride of a loop it tells the
  /// distance of dependence in iterations.
  int64_t distance_bytes = 0;
};

/// The union of two canonical descriptors as one, where one of the rules gives it exactly:
/// dimension by dimension equal but for one that one set continues; runs that touch; or, if it
/// leaves no more dimensions than there were, streams that interleave.
std::optional<Merged> unite(const Lmad& a, const Lmad& b);

}  // namespace stripline::access
