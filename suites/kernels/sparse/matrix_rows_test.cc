#include "suites/kernels/sparse/matrix_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::sparse {
namespace {

constexpr std::array kKinds = {MatrixKind::banded, MatrixKind::plane, MatrixKind::space,
                               MatrixKind::power_law, MatrixKind::random};

TEST(MatrixRows, PartsAreThoseOfTheWhole) {
  for (const MatrixKind kind : kKinds) {
    const uint64_t rows = fitting_rows(kind, 3000);
    const MatrixRows whole = make_rows(kind, rows, 0, rows);
    const MatrixRows part = make_rows(kind, rows, 100, 300);
    ASSERT_EQ(part.rows(), 200U);
    const MatrixRows cut = rows_of(whole, 100, 300);
    ASSERT_EQ(cut.begin, part.begin);
    ASSERT_EQ(cut.column, part.column);
    ASSERT_EQ(cut.first, part.first);
    ASSERT_TRUE(std::equal(part.column.begin(), part.column.end(),
                           whole.column.begin() + static_cast<std::ptrdiff_t>(whole.begin[100])));
    ASSERT_TRUE(std::equal(part.value.begin(), part.value.end(),
                           whole.value.begin() + static_cast<std::ptrdiff_t>(whole.begin[100])));
  }
}

TEST(MatrixRows, HaveTheirDiagonalAndAscend) {
  for (const MatrixKind kind : kKinds) {
    for (const uint64_t wanted : {1U, 2U, 10U, 1000U}) {
      const uint64_t rows = fitting_rows(kind, wanted);
      ASSERT_LE(rows, wanted);
      const MatrixRows whole = make_rows(kind, rows, 0, rows);
      for (uint64_t row = 0; row < rows; ++row) {
        const std::vector<uint64_t> columns(
            whole.column.begin() + static_cast<std::ptrdiff_t>(whole.begin[row]),
            whole.column.begin() + static_cast<std::ptrdiff_t>(whole.begin[row + 1]));
        ASSERT_TRUE(std::ranges::is_sorted(columns));
        ASSERT_TRUE(std::ranges::binary_search(columns, row));
        ASSERT_LT(columns.back(), rows);
      }
    }
  }
}

TEST(MatrixRows, GridsHaveTheNeighboursOfTheirPoints) {
  const uint64_t plane = fitting_rows(MatrixKind::plane, 110);
  EXPECT_EQ(plane, 100U);
  EXPECT_EQ(make_rows(MatrixKind::plane, plane, 0, plane).entries(), 28U * 28U);
  const uint64_t space = fitting_rows(MatrixKind::space, 1000);
  EXPECT_EQ(space, 1000U);
  EXPECT_EQ(make_rows(MatrixKind::space, space, 0, space).entries(), 28U * 28U * 28U);
}

TEST(MatrixRows, DefiniteOnesAreSymmetricWithTheirEigenvaluesInBounds) {
  for (const MatrixKind kind : kKinds) {
    const uint64_t rows = fitting_rows(kind, 300);
    const MatrixRows matrix = make_definite(make_rows(kind, rows, 0, rows));
    ASSERT_EQ(matrix.rows(), rows);
    std::map<std::pair<uint64_t, uint64_t>, double> entries;
    for (uint64_t row = 0; row < rows; ++row) {
      for (size_t e = matrix.begin[row]; e < matrix.begin[row + 1]; ++e) {
        ASSERT_TRUE(entries.emplace(std::pair(row, matrix.column[e]), matrix.value[e]).second);
      }
    }
    for (const auto& [place, value] : entries) {
      ASSERT_EQ(entries.at({place.second, place.first}), value);
    }
    // Repeated products turn a vector towards that of the eigenvalue that is largest in size, of
    // shift I + scale A. That of another vector is no larger.
    const auto largest = [&](double shift, double scale) {
      std::vector<double> vector(rows);
      for (uint64_t row = 0; row < rows; ++row) vector[row] = 1 + static_cast<double>(row % 7);
      double factor = 0;
      for (int i = 0; i < 50; ++i) {
        std::vector<double> product(rows);
        for (uint64_t row = 0; row < rows; ++row) product[row] = shift * vector[row];
        for (const auto& [place, value] : entries) {
          product[place.first] += scale * value * vector[place.second];
        }
        double square = 0;
        for (const double part : product) square += part * part;
        factor = std::sqrt(square);
        for (uint64_t row = 0; row < rows; ++row) vector[row] = product[row] / factor;
      }
      return factor;
    };
    EXPECT_LE(largest(0, 1), 3);
    EXPECT_GE(largest(0, 1), 2);
    EXPECT_LE(largest(3, -1), 2) << "an eigenvalue is below 1";
    for (uint64_t row = 0; row < rows; ++row) ASSERT_EQ(entries.at({row, row}), 2);
  }
}

TEST(MatrixRows, PowerLawsHaveHotColumnsAndLongRows) {
  const MatrixRows whole = make_rows(MatrixKind::power_law, 10000, 0, 10000);
  std::map<uint64_t, size_t> readers;
  for (const uint64_t column : whole.column) ++readers[column];
  const auto hottest = std::ranges::max_element(
      readers, [](const auto& a, const auto& b) { return a.second < b.second; });
  EXPECT_GT(hottest->second, 1000U);
  size_t longest = 0;
  for (size_t row = 0; row < whole.rows(); ++row) {
    longest = std::max(longest, whole.begin[row + 1] - whole.begin[row]);
  }
  EXPECT_GT(longest, 100U);
}

}  // namespace
}  // namespace stripline::sparse
