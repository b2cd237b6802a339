// The shape of a strided transfer, brought into one form, so that what follows sees few dimensions
// and long regions.
#pragma once

#include <cstdint>

#include <boost/container/small_vector.hpp>

namespace stripline::vis {

/// Any number of dimensions, of which few need no allocation: a transfer between ranks of a node
/// may take less time than that.
template <typename T>
using DimensionList = boost::container::small_vector<T, 4>;

/// One dimension: `count` steps, each of a stride in bytes on either side.
struct Dimension {
  uint64_t count = 0;
  int64_t remote_stride = 0;
  int64_t local_stride = 0;
  bool operator==(const Dimension&) const = default;
};

/// Regions of `bytes`, one for each combination of steps. Offsets count from the start of the
/// target's segment, and from an address that the caller knows.
struct Strided {
  int64_t remote = 0;
  int64_t local = 0;
  uint64_t bytes = 0;                   ///< of a region
  DimensionList<Dimension> dimensions;  ///< innermost first

  uint64_t regions() const;
  uint64_t total_bytes() const { return regions() * bytes; }
};

/// Brings a shape into its normal form, which pairs the same bytes: no dimension of fewer than two
/// steps; no negative remote stride; dimensions in the order of their remote strides; regions that
/// touch on both sides are one region, dimensions that continue one another one dimension. A shape
/// of no bytes becomes one of bytes = 0. (The steps are those of GASNet-EX's strided transfers.)
/// False if sizes or addresses exceed 2^60, which no memory has.
bool normalise(Strided& shape);

/// The bytes that one side of a normal shape touches lie in [low, high).
struct Extent {
  int64_t low = 0;
  int64_t high = 0;
};
Extent remote_extent(const Strided& shape);

/// One side of a shape: where the bytes of the stream lie that a transfer packs its data into, the
/// innermost dimension first.
struct SideDimension {
  uint64_t count = 0;
  int64_t stride = 0;
  bool operator==(const SideDimension&) const = default;
};
struct Side {
  int64_t base = 0;
  uint64_t bytes = 0;  ///< of a region; not 0
  DimensionList<SideDimension> dimensions;

  uint64_t regions() const;
};

/// The sides of a normal shape that has bytes. Regions of one side may be longer than those of the
/// shape.
void remote_side(const Strided& shape, Side& side);
void local_side(const Strided& shape, Side& side);

}  // namespace stripline::vis
