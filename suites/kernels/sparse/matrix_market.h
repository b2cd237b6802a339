// Sparse matrices from files in Matrix Market's coordinate format
// (https://math.nist.gov/MatrixMarket/formats.html).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "suites/kernels/sparse/matrix_rows.h"

namespace stripline::sparse {

/// All rows. Of a symmetric (skew-symmetric) matrix both halves, of which the file has one; entries
/// of a pattern are 1; entries of one place are added up. Also read, beyond the format: a byte
/// order mark of UTF-8, a banner with one percent sign, comments that are indented or between
/// entries, exponents as Fortran writes them, lines that end with CR. Errors: data_loss, with the
/// line where there is one, for what is not a square matrix of real or integer numbers in
/// coordinate form, has entries of both halves at one place or a skew-symmetric diagonal, is
/// compressed, or is not complete.
Result<MatrixRows> parse_matrix_market(std::string_view text);

/// Reads a file. Errors: not_found or unavailable if it cannot be read; as above, with its name.
Result<MatrixRows> read_matrix_market(const std::string& path);

}  // namespace stripline::sparse
