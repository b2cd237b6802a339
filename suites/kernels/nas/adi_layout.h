// Where the arrays of a rank of BT or SP lie, and what its peers read or write of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "suites/kernels/nas/adi_partition.h"

namespace stripline::suites::nas {

/// Density, three momenta and energy, next to each other at every point.
inline constexpr size_t kComponents = 5;
/// Layers of points around every cell that hold what the neighbours have there.
inline constexpr int kGhosts = 2;

/// What a sweep hands from cell to cell, in doubles a line.
struct AdiWidths {
  size_t forward = 0;   ///< By the elimination, towards the high end.
  size_t backward = 0;  ///< By the back substitution, towards the low end.
};

/// Places of doubles: count[1] times count[0] runs of `run`, at begin + a stride[0] + b stride[1].
struct AdiRegion {
  size_t begin = 0;
  size_t run = 0;
  std::array<size_t, 2> count{};
  std::array<size_t, 2> stride{};
};

/// A ghost layer of a cell: from which rank it is fetched, and what goes where.
struct AdiFace {
  int cell = 0;
  int axis = 0;
  Side side = Side::low;
  uint32_t peer = 0;
  AdiRegion source;  ///< In the shared memory of `peer`.
  AdiRegion target;  ///< In ours.
};

/// One rank's part in one stage of a sweep: its cell, and what it gets and hands on for it. Offsets
/// are in doubles in the shared memory of the rank that is named; line l begins `l * width` after.
/// Every step of an iteration has places of its own.
struct AdiSweepStep {
  int axis = 0;
  bool forward = false;  ///< The elimination, or else the back substitution.
  int stage = 0;         ///< The slice of the cell.
  int cell = 0;
  size_t lines = 0;
  size_t width = 0;  ///< Doubles a line.

  bool receives = false;  ///< False in the first cell of the sweep.
  uint32_t from = 0;
  size_t in = 0;        ///< Where it may be received, in our shared memory.
  size_t from_out = 0;  ///< Where `from` may leave it, in its own.

  bool sends = false;  ///< False in the last cell.
  uint32_t to = 0;
  size_t out = 0;    ///< Where it may be left, in our shared memory.
  size_t to_in = 0;  ///< Where `to` may receive it, in its own.
};

/// The lines of a cell along an axis, leaving out the grid's boundary: line l = b * across + a, a
/// counting along the lower one of the other axes.
struct AdiLines {
  size_t first = 0;      ///< The first point of line 0.
  ptrdiff_t along = 0;   ///< From a point to the next one of its line,
  ptrdiff_t next_a = 0;  ///< to the next line of the same b,
  ptrdiff_t next_b = 0;  ///< and to that of the next b; all in points.
  int points = 0;        ///< Points of a line.
  int first_point = 0;   ///< Where in the grid the lines begin.
  size_t across = 0;
  size_t lines = 0;

  /// Calls body(first point, lines, lines from `begin` on) for pieces of [begin, end) whose lines
  /// lie next_a apart, none longer than `max_lines`.
  template <typename Body>
  void for_each_block(size_t begin, size_t end, size_t max_lines, Body&& body) const {
    for (size_t line = begin; line < end;) {
      const size_t b = line / across;
      const size_t a = line - b * across;
      const size_t count = std::min({across - a, end - line, max_lines});
      body(first + b * static_cast<size_t>(next_b) + a * static_cast<size_t>(next_a), count,
           line - begin);
      line += count;
    }
  }
};

/// The indices of one rank's arrays. All ranks have the same pitches and offsets, whatever the
/// sizes of their cells, so that a rank can say where something lies at a peer.
///
/// Constant after its creation, so any thread may use it.
class AdiLayout {
 public:
  AdiLayout(const AdiPartition& partition, AdiWidths widths);

  const AdiPartition& partition() const { return partition_; }
  const AdiWidths& widths() const { return widths_; }

  /// What a rank shares with its peers: the ghosted cells of u first, then the places of the
  /// sweeps.
  size_t shared_doubles() const { return shared_doubles_; }

  /// Points of all cells with their ghosts, used ones or not: the size of an array.
  size_t points() const { return cell_points_ * partition_.cells().size(); }
  /// The index of a point; i, j, k count from the cell's low corner and may reach into the ghosts.
  size_t point(int cell, int i, int j, int k) const {
    const ptrdiff_t pitch = pitch_;
    return static_cast<size_t>(cell) * cell_points_ +
           static_cast<size_t>(((k + kGhosts) * pitch + j + kGhosts) * pitch + i + kGhosts);
  }
  /// From a point to its neighbour along the axis.
  ptrdiff_t stride(int axis) const {
    const ptrdiff_t pitch = pitch_;
    return axis == 0 ? 1 : axis == 1 ? pitch : pitch * pitch;
  }

  /// All ghost layers of this rank.
  std::vector<AdiFace> faces() const;
  AdiLines lines(int cell, int axis) const;
  /// This rank's step in slice `stage` of the axis: in the elimination, which goes up through the
  /// stages, and in the back substitution, which comes down.
  AdiSweepStep forward(int axis, int stage) const;
  AdiSweepStep backward(int axis, int stage) const;

 private:
  size_t sweep_place(int axis, int boundary, size_t within) const;

  AdiPartition partition_;
  AdiWidths widths_;
  int pitch_;
  size_t cell_points_;
  size_t max_lines_;
  size_t boundary_doubles_;  // of all four places at a boundary of two slices
  size_t shared_doubles_;
};

}  // namespace stripline::suites::nas
