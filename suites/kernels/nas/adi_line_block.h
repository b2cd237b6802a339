// Lines of a sweep that are worked on together, two of them side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "suites/kernels/nas/adi_layout.h"

namespace stripline::suites::nas {

/// A number of each of two lines. The recurrence along a line leaves a processor no two operations
/// to do at once; those of two lines fill the two lanes that the vectors of every x86-64 and of
/// every 64-bit ARM have. A line alone is computed twice, so that its result is the same.
using LinePair [[gnu::vector_size(16)]] = double;

inline LinePair load_pair(const double* first, const double* second) {
  return LinePair{*first, *second};
}

inline void store_pair(LinePair value, double* first, double* second) {
  *first = value[0];
  *second = value[1];
}

/// Lines that lie evenly spaced, in pairs.
struct LineBlock {
  const AdiLines& lines;
  size_t point;  ///< The first point of the first line.
  size_t count;

  size_t pairs() const { return (count + 1) / 2; }
  size_t first_line(size_t pair) const { return 2 * pair; }
  size_t second_line(size_t pair) const { return std::min(2 * pair + 1, count - 1); }
  /// Point `n` of a line.
  size_t at(size_t line, ptrdiff_t n) const {
    return point +
           static_cast<size_t>(static_cast<ptrdiff_t>(line) * lines.next_a + n * lines.along);
  }
};

/// Calls body(axis, block, received, results) for the lines [begin, end) of the cell in blocks of
/// at most `max_lines`, `axis` being a constant. `received` and `results` are those of the range,
/// of `width` doubles a line, or null.
template <typename Body>
void for_each_line_block(const AdiLayout& layout, int axis, int cell, size_t begin, size_t end,
                         size_t max_lines, size_t width, const double* received, double* results,
                         Body&& body) {
  const AdiLines lines = layout.lines(cell, axis);
  lines.for_each_block(begin, end, max_lines, [&](size_t point, size_t count, size_t done) {
    const LineBlock block{lines, point, count};
    const double* const in = received == nullptr ? nullptr : received + done * width;
    double* const out = results == nullptr ? nullptr : results + done * width;
    switch (axis) {
      case 0:
        return body(std::integral_constant<int, 0>(), block, in, out);
      case 1:
        return body(std::integral_constant<int, 1>(), block, in, out);
      default:
        return body(std::integral_constant<int, 2>(), block, in, out);
    }
  });
}

}  // namespace stripline::suites::nas
