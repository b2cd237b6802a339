#include "suites/kernels/sparse/matrix_rows.h"

#include <algorithm>
#include <cstdint>
#include <map>
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
