// The grid of PRK stencil over a grid of ranks: who has which points, and which points are ghosts
// of whom.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"

namespace stripline::suites::prk {

/// The sides of a block. Opposite ones differ in the last bit.
enum class StencilSide : uint8_t { left, right, lower, upper };
inline constexpr std::array<StencilSide, 4> kStencilSides = {
    StencilSide::left, StencilSide::right, StencilSide::lower, StencilSide::upper};

/// The side of the neighbour that a side faces.
constexpr StencilSide opposite(StencilSide side) {
  return static_cast<StencilSide>(static_cast<unsigned>(side) ^ 1U);
}

/// Points that a rank has on one side and its neighbour needs as ghosts; the same number at either
/// end. Offsets are in doubles, from the start of each one's array, in which rows are `pitch`
/// apart.
struct StencilFace {
  uint32_t neighbour = 0;
  size_t source = 0;  ///< of the points, in this rank's array
  size_t ghosts = 0;  ///< of the ghosts, in the neighbour's
  size_t columns = 0;
  size_t rows = 0;
  size_t elements() const { return columns * rows; }
};

/// n x n points in blocks, one for each rank, of sizes that differ by at most one row or column.
/// Every rank's array is as large as the largest block with `radius` ghosts on all sides, so that
/// it is laid out alike everywhere. Rows are contiguous; nothing is periodic.
class StencilPartition {
 public:
  /// `ranks_x` blocks along a row; 0: as near to the square root of the ranks as divides them, and
  /// not above it (specification). Errors: invalid_argument if ranks_x does not divide the ranks,
  /// or a block has no more than 2 radius points along an axis.
  static Result<StencilPartition> create(size_t n, size_t radius, uint32_t ranks, uint32_t ranks_x);

  size_t n() const { return n_; }
  size_t radius() const { return radius_; }
  uint32_t ranks_x() const { return ranks_x_; }
  uint32_t ranks_y() const { return ranks_y_; }

  /// A rank's block.
  size_t first_column(uint32_t rank) const { return n_ * (rank % ranks_x_) / ranks_x_; }
  size_t first_row(uint32_t rank) const { return n_ * (rank / ranks_x_) / ranks_y_; }
  size_t columns(uint32_t rank) const {
    return n_ * (rank % ranks_x_ + 1) / ranks_x_ - first_column(rank);
  }
  size_t rows(uint32_t rank) const {
    return n_ * (rank / ranks_x_ + 1) / ranks_y_ - first_row(rank);
  }

  /// From one row of the array to the next, in doubles.
  size_t pitch() const { return (n_ + ranks_x_ - 1) / ranks_x_ + 2 * radius_; }
  /// Elements of the array, which peers access.
  size_t shared_elements() const {
    return ((n_ + ranks_y_ - 1) / ranks_y_ + 2 * radius_) * pitch();
  }
  /// Where the point (column, row) of a block is; (0, 0) is its first one.
  size_t at(size_t column, size_t row) const {
    return (row + radius_) * pitch() + column + radius_;
  }
  /// None where the grid ends.
  std::optional<StencilFace> face(uint32_t rank, StencilSide side) const;
  /// At least the elements of any face.
  size_t largest_face() const;

 private:
  StencilPartition(size_t n, size_t radius, uint32_t ranks_x, uint32_t ranks_y)
      : n_(n), radius_(radius), ranks_x_(ranks_x), ranks_y_(ranks_y) {}

  size_t n_;
  size_t radius_;
  uint32_t ranks_x_;
  uint32_t ranks_y_;
};

}  // namespace stripline::suites::prk
