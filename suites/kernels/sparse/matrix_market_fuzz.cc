// Matrices come from anywhere: whatever the bytes, reading them ends with whole rows or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "suites/kernels/sparse/matrix_market.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = stripline::sparse::parse_matrix_market(text);
  if (!read.ok()) return 0;
  const auto& matrix = *read;
  if (matrix.begin.front() != 0 || matrix.begin.back() != matrix.entries()) std::abort();
  for (size_t row = 0; row < matrix.rows(); ++row) {
    for (size_t e = matrix.begin[row]; e < matrix.begin[row + 1]; ++e) {
      if (matrix.column[e] >= matrix.rows()) std::abort();
      if (e > matrix.begin[row] && matrix.column[e] <= matrix.column[e - 1]) std::abort();
    }
  }
  return 0;
}
