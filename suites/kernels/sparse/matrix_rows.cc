#include "suites/kernels/sparse/matrix_rows.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace stripline::sparse {
namespace {

constexpr uint64_t kSeed = 0x5eed;
constexpr uint64_t kHalfBand = 64;
// Exponents of the degrees of pages: of links on a page and to it (Broder et al., Graph structure
// in the web, Computer Networks 33, 2000).
constexpr double kOutExponent = 2.72;
constexpr double kInExponent = 2.1;
constexpr uint64_t kMostEntries = 1000;

double unit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
double between(uint64_t bits) { return 2 * unit(bits) - 1; }

uint64_t side_of(MatrixKind kind, uint64_t rows) {
  const double dimensions = kind == MatrixKind::plane ? 2 : 3;
  auto side = static_cast<uint64_t>(std::pow(static_cast<double>(rows), 1 / dimensions)) + 1;
  const auto points = [&] { return kind == MatrixKind::plane ? side * side : side * side * side; };
  while (side > 1 && points() > rows) --side;
  return side;
}

// The neighbours of a point of a grid, itself included.
void add_neighbours(uint64_t row, uint64_t side, size_t dimensions,
                    std::vector<uint64_t>& columns) {
  std::array<int64_t, 3> at{};
  uint64_t rest = row;
  for (size_t d = 0; d < dimensions; ++d) {
    at[d] = static_cast<int64_t>(rest % side);
    rest /= side;
  }
  const auto length = static_cast<int64_t>(side);
  const int64_t depth = dimensions == 3 ? 1 : 0;
  for (int64_t z = -depth; z <= depth; ++z) {
    for (int64_t y = -1; y <= 1; ++y) {
      for (int64_t x = -1; x <= 1; ++x) {
        const std::array<int64_t, 3> to = {at[0] + x, at[1] + y, at[2] + z};
        const bool inside =
            std::ranges::all_of(to, [&](int64_t place) { return place >= 0 && place < length; });
        if (inside) {
          columns.push_back(static_cast<uint64_t>((to[2] * length + to[1]) * length + to[0]));
        }
      }
    }
  }
}

void add_scattered(MatrixKind kind, uint64_t row, uint64_t rows, uint64_t entries,
                   std::vector<uint64_t>& columns) {
  SplitMix64 random(derive_seed(kSeed, row));
  if (kind == MatrixKind::power_law) {
    const double drawn = std::pow(1 - unit(random.next()), -1 / (kOutExponent - 1));
    entries = static_cast<uint64_t>(std::min(drawn * 4, static_cast<double>(kMostEntries)));
  }
  columns.push_back(row);
  for (uint64_t i = 1; i < std::min(entries, rows); ++i) {
    switch (kind) {
      case MatrixKind::banded: {
        const uint64_t low = row < kHalfBand ? 0 : row - kHalfBand;
        const uint64_t high = std::min(rows - 1, row + kHalfBand);
        columns.push_back(low + random.next() % (high - low + 1));
        break;
      }
      case MatrixKind::power_law: {
        // Columns by rank of their number, spread over the matrix.
        const double rank = std::pow(unit(random.next()), (kInExponent - 1) / (kInExponent - 2));
        const auto place = static_cast<uint64_t>(rank * static_cast<double>(rows));
        columns.push_back(mix64(std::min(place, rows - 1)) % rows);
        break;
      }
      default:
        columns.push_back(random.next() % rows);
    }
  }
}

}  // namespace

uint64_t fitting_rows(MatrixKind kind, uint64_t rows) {
  if (kind != MatrixKind::plane && kind != MatrixKind::space) return std::max<uint64_t>(rows, 1);
  const uint64_t side = side_of(kind, std::max<uint64_t>(rows, 1));
  return kind == MatrixKind::plane ? side * side : side * side * side;
}

MatrixRows make_rows(MatrixKind kind, uint64_t rows, uint64_t first, uint64_t last,
                     uint64_t entries) {
  MatrixRows made;
  made.first = first;
  made.begin.push_back(0);
  std::vector<uint64_t> columns;
  for (uint64_t row = first; row < last; ++row) {
    columns.clear();
    if (kind == MatrixKind::plane || kind == MatrixKind::space) {
      add_neighbours(row, side_of(kind, rows), kind == MatrixKind::plane ? 2 : 3, columns);
    } else {
      add_scattered(kind, row, rows, entries, columns);
    }
    std::ranges::sort(columns);
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (const uint64_t column : columns) {
      made.column.push_back(column);
      made.value.push_back(between(hash_of(row, column)));
    }
    made.begin.push_back(made.column.size());
  }
  return made;
}

MatrixRows rows_of(const MatrixRows& whole, uint64_t first, uint64_t last) {
  const auto at = [](const auto& values, size_t place) {
    return values.begin() + static_cast<std::ptrdiff_t>(place);
  };
  const size_t begin = whole.begin[first];
  const size_t end = whole.begin[last];
  MatrixRows part;
  part.first = first;
  for (uint64_t row = first; row <= last; ++row) part.begin.push_back(whole.begin[row] - begin);
  part.column.assign(at(whole.column, begin), at(whole.column, end));
  part.value.assign(at(whole.value, begin), at(whole.value, end));
  return part;
}

MatrixRows make_definite(const MatrixRows& whole) {
  const size_t rows = whole.rows();
  std::vector<std::vector<uint64_t>> beside(rows);  // columns, without the diagonal
  for (uint64_t row = 0; row < rows; ++row) {
    for (size_t e = whole.begin[row]; e < whole.begin[row + 1]; ++e) {
      const uint64_t column = whole.column[e];
      if (column == row) continue;
      beside[row].push_back(column);
      beside[column].push_back(row);
    }
  }
  MatrixRows made;
  made.begin.push_back(0);
  std::vector<double> sum(rows, 0);  // of magnitudes beside the diagonal
  for (uint64_t row = 0; row < rows; ++row) {
    std::vector<uint64_t>& columns = beside[row];
    columns.push_back(row);
    std::ranges::sort(columns);
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (const uint64_t column : columns) {
      const uint64_t above = std::min(row, column);
      made.column.push_back(column);
      made.value.push_back(between(hash_of(above, row + column - above, kSeed)));
      if (column != row) sum[row] += std::abs(made.value.back());
    }
    made.begin.push_back(made.column.size());
  }
  // Divided by its sum, every row would be outweighed twice by its diagonal; divided by the roots
  // of both sums of an entry, the matrix has the same eigenvalues and stays symmetric.
  for (uint64_t row = 0; row < rows; ++row) {
    for (size_t e = made.begin[row]; e < made.begin[row + 1]; ++e) {
      const uint64_t column = made.column[e];
      made.value[e] = column == row ? 2 : made.value[e] / std::sqrt(sum[row] * sum[column]);
    }
  }
  return made;
}

double vector_element(uint64_t element, uint64_t salt) {
  return between(hash_of(element, salt, 1));
}

}  // namespace stripline::sparse
