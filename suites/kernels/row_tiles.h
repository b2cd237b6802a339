// Going through a range of a matrix of rows in tiles of whole rows, as transpositions do: several
// rows together become contiguous pieces of several elements.
#pragma once

#include <algorithm>
#include <cstddef>

namespace stripline::suites {

/// Calls tile(row, rows, col, cols, offset) for consecutive parts of the elements [begin, end) of a
/// matrix with rows of `row_elements`: up to `tile_rows` whole rows together, or a part of one row
/// where the range begins or ends within it. `offset` is the part's distance from `begin`; its rows
/// lie one after another.
template <typename Tile>
void for_row_tiles(size_t begin, size_t end, size_t row_elements, size_t tile_rows, Tile&& tile) {
  size_t row = begin / row_elements;
  const size_t col = begin - row * row_elements;
  size_t left = end - begin;
  size_t offset = 0;
  if (col != 0) {
    const size_t count = std::min(row_elements - col, left);
    tile(row++, size_t{1}, col, count, offset);
    offset += count;
    left -= count;
  }
  while (left >= row_elements) {
    const size_t rows = std::min(tile_rows, left / row_elements);
    tile(row, rows, size_t{0}, row_elements, offset);
    row += rows;
    offset += rows * row_elements;
    left -= rows * row_elements;
  }
  if (left != 0) tile(row, size_t{1}, size_t{0}, left, offset);
}

}  // namespace stripline::suites
