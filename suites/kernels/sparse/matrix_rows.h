// Rows of sparse matrices as they occur, made where they are needed: the same on every rank and in
// every run. A matrix is square, and every row has its diagonal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace stripline::sparse {

enum class MatrixKind : uint8_t {
  banded,     ///< as many entries in each row, anywhere within 64 columns of the diagonal
  plane,      ///< finite elements of a square: a point and its 8 neighbours
  space,      ///< of a cube: a point and its 26 neighbours
  power_law,  ///< columns as web pages are linked: few in most rows, some columns in very many
  random,     ///< as many entries in each row, anywhere
};
inline constexpr std::array<std::string_view, 5> kMatrixKindNames = {"banded", "plane", "space",
                                                                     "power_law", "random"};

/// Consecutive rows (compressed sparse rows).
struct MatrixRows {
  uint64_t first = 0;            ///< the number of the first one in the matrix
  std::vector<size_t> begin;     ///< of a row's entries, and the end of the last one's
  std::vector<uint64_t> column;  ///< of each entry, ascending in each row
  std::vector<double> value;

  size_t rows() const { return begin.size() - 1; }
  size_t entries() const { return column.size(); }
};

/// How many rows the matrix of this kind has that is nearest below `rows`: squares and cubes; at
/// least 1.
uint64_t fitting_rows(MatrixKind kind, uint64_t rows);

/// Entries of a row of banded and random matrices, if nothing else is asked for.
inline constexpr uint64_t kEntriesOfRow = 9;

/// Rows [first, last) of the matrix with fitting_rows() `rows`; `entries` of each row of banded and
/// random ones, at least 1, fewer where some fall on the same column.
MatrixRows make_rows(MatrixKind kind, uint64_t rows, uint64_t first, uint64_t last,
                     uint64_t entries = kEntriesOfRow);

/// Rows [first, last) of a whole matrix.
MatrixRows rows_of(const MatrixRows& whole, uint64_t first, uint64_t last);

/// A symmetric matrix with entries where a whole matrix or its transpose has some. Its diagonal is
/// 2, and its eigenvalues lie between 1 and 3.
MatrixRows make_definite(const MatrixRows& whole);

/// The element of a vector to multiply with, between -1 and 1.
double vector_element(uint64_t element, uint64_t salt);

}  // namespace stripline::sparse
