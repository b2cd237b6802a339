// The part of the grid that a rank of NAS BT and SP has: the diagonal multi-partition.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace stripline::suites::nas {

/// A block of grid points. Axes are 0 (x), 1 (y) and 2 (z).
struct AdiCell {
  std::array<int, 3> at{};    ///< Its place among the p x p x p cells.
  std::array<int, 3> low{};   ///< The grid point at its low corner.
  std::array<int, 3> size{};  ///< Points.
};

/// The two ends of an axis.
enum class Side { low, high };

/// One rank's share of a cube of points that p^2 ranks divide into p x p x p cells, such that every
/// slice of cells, in every direction, has exactly one cell of every rank: a sweep through the grid
/// keeps all ranks busy, and all that a rank's cells touch on one side belongs to one other rank
/// (Naik, "A scalable implementation of the NAS parallel benchmark BT on distributed memory
/// systems", IBM Systems Journal 34(2), 1995). A rank's cell c lies in slice c of the z axis.
///
/// A value; constant after its creation, so any thread may use it.
class AdiPartition {
 public:
  /// The points on which a cell's right-hand side depends reach two cells wide only.
  static constexpr int kMinCellPoints = 4;

  /// The share of `rank` of a cube with `points` points in each direction. invalid_argument where
  /// `ranks` is no square number, or cells would have fewer than kMinCellPoints in a direction.
  static Result<AdiPartition> create(int points, uint32_t ranks, uint32_t rank);

  int points() const { return points_; }
  uint32_t rank() const { return rank_; }
  /// p, which is also how many cells every rank has.
  int cells_per_axis() const { return static_cast<int>(cells_.size()); }
  const std::vector<AdiCell>& cells() const { return cells_; }
  const AdiCell& cell(int index) const { return cells_[static_cast<size_t>(index)]; }
  /// How thick a slice of cells is, the same in all directions; the first ones are the thickest.
  int slice_points(int slice) const {
    return points_ / cells_per_axis() + (slice < points_ % cells_per_axis() ? 1 : 0);
  }

  /// The index of this rank's cell in a slice of the axis.
  int cell_in_slice(int axis, int slice) const;
  /// The rank that has the cell at this place.
  uint32_t owner(const std::array<int, 3>& at) const;
  /// The rank that has all cells next to ours at this end of the axis, as if the grid were
  /// periodic.
  uint32_t neighbour(int axis, Side side) const;

  /// True if the grid goes on at this end of the cell.
  bool has_neighbour(const AdiCell& cell, int axis, Side side) const {
    return side == Side::low ? cell.at[static_cast<size_t>(axis)] != 0
                             : cell.at[static_cast<size_t>(axis)] != cells_per_axis() - 1;
  }
  /// The points [interior_begin, interior_end) of the cell that are not on the grid's boundary.
  int interior_begin(const AdiCell& cell, int axis) const {
    return has_neighbour(cell, axis, Side::low) ? 0 : 1;
  }
  int interior_end(const AdiCell& cell, int axis) const {
    return cell.size[static_cast<size_t>(axis)] - (has_neighbour(cell, axis, Side::high) ? 0 : 1);
  }

 private:
  AdiPartition(int points, uint32_t rank, int p);

  int points_;
  uint32_t rank_;
  std::vector<AdiCell> cells_;
};

}  // namespace stripline::suites::nas
