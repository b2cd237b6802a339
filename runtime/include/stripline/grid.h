// Grids of cells, and patches of them; z runs fastest.
//
//   const stripline::grid_extent grid = {16, 16, 8};
//   const stripline::grid_cell corner = {3, 0, 5};
//   const uint64_t place = (corner.x * grid.y + corner.y) * grid.z + corner.z;
//   if (place < grid.cells()) sum += ctx.rget(remote + static_cast<std::ptrdiff_t>(place));
#pragma once

#include <cstdint>
#include <string>

namespace stripline {

/// Cells along x, y and z; z runs fastest. A list of n cells is {n, 1, 1}.
struct grid_extent {
  uint64_t x = 1;                                         ///< the slowest index
  uint64_t y = 1;                                         ///< the one between
  uint64_t z = 1;                                         ///< the fastest index
  constexpr uint64_t cells() const { return x * y * z; }  ///< the number of cells, modulo 2^64
  /// True if there are none.
  constexpr bool is_empty() const { return x == 0 || y == 0 || z == 0; }
  /// Equal in all members.
  friend bool operator==(const grid_extent&, const grid_extent&) = default;
};
/// A cell of a grid, counted from 0.
struct grid_cell {
  uint64_t x = 0;  ///< the slowest index
  uint64_t y = 0;  ///< the one between
  uint64_t z = 0;  ///< the fastest index
};

namespace detail {

/// True if a grid has all cells of a patch whose first one is `corner`.
constexpr bool is_within(const grid_cell& corner, const grid_extent& patch,
                         const grid_extent& grid) {
  const auto fits = [](uint64_t from, uint64_t count, uint64_t all) {
    return count <= all && from <= all - count;
  };
  return fits(corner.x, patch.x, grid.x) && fits(corner.y, patch.y, grid.y) &&
         fits(corner.z, patch.z, grid.z);
}

/// Says that a grid has not all cells of a patch.
inline std::string not_within_text(const grid_cell& corner, const grid_extent& patch,
                                   const grid_extent& grid) {
  const auto text = [](uint64_t x, uint64_t y, uint64_t z) {
    return std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z);
  };
  return "a patch of " + text(patch.x, patch.y, patch.z) + " cells from " +
         text(corner.x, corner.y, corner.z) + " on is not within the grid of " +
         text(grid.x, grid.y, grid.z);
}

}  // namespace detail
}  // namespace stripline
