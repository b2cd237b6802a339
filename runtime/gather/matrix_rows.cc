// What SparseMatrix::create() is given.
#include <cstdint>
#include <string>

#include <stripline/sparse_matrix.h>

namespace stripline::detail {
namespace {

std::string entry(size_t number) { return "row_begin[" + std::to_string(number) + "]"; }

}  // namespace

std::string mistake_of_rows(std::span<const size_t> row_begin, size_t columns, size_t values) {
  if (row_begin.empty()) {
    return "row_begin is empty; it has one element more than there are rows: {0} for none";
  }
  if (row_begin.data() == nullptr) return "row_begin is at a null pointer";
  const size_t rows = row_begin.size() - 1;
  if (rows > UINT32_MAX) return std::to_string(rows) + " rows; a rank has at most 4294967295";
  if (row_begin.front() != 0) {
    return entry(0) + " is " + std::to_string(row_begin.front()) +
           "; the first row begins with entry 0";
  }
  for (size_t row = 0; row < rows; ++row) {
    if (row_begin[row + 1] >= row_begin[row]) continue;
    return entry(row + 1) + " is " + std::to_string(row_begin[row + 1]) + ", less than " +
           entry(row) + ", which is " + std::to_string(row_begin[row]) + "; rows follow each other";
  }
  if (row_begin.back() != columns) {
    return entry(rows) + " is " + std::to_string(row_begin.back()) + ", but there are " +
           std::to_string(columns) + " columns; the last row ends with the last entry";
  }
  if (values != columns) {
    return std::to_string(columns) + " columns, but " + std::to_string(values) +
           " values; an entry has one of each";
  }
  return {};
}

}  // namespace stripline::detail
