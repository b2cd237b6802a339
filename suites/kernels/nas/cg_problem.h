// The problem of NAS CG (Bailey et al., NAS-91-002, section 3.4): its classes, how its matrix is
// divided among ranks, and how the matrix is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "suites/kernels/nas/nas_class.h"

namespace stripline::suites::nas {

/// The smallest eigenvalue of a sparse symmetric matrix, by inverse power iteration.
struct CgProblem {
  size_t order;           ///< of the matrix
  size_t row_nonzeros;    ///< of each random vector that the matrix is summed up from
  size_t iterations;      ///< of the power method
  double shift;           ///< lambda in A - lambda I
  double reference_zeta;  ///< what the last iteration must give
};

/// The classes' parameters and verification values (NPB 3).
const CgProblem& cg_problem(NasClass problem_class);

/// Steps of the conjugate-gradient solution inside each iteration of the power method.
inline constexpr size_t kCgSteps = 25;
/// The relative error that the specification allows in zeta.
inline constexpr double kCgTolerance = 1e-10;
/// How large |x - A z| may be in any iteration. The specification prints it and checks zeta alone;
/// but the power method forgives what went wrong in its first iterations, and a measurement must
/// not. All classes stay below 3e-13.
inline constexpr double kCgResidualLimit = 1e-10;

/// The blocks of the matrix over a grid of ranks, as NPB's CG divides it: 2^k ranks in 2^(k/2) rows
/// (rounded down) and as many or twice as many columns. The ranks of a row share the rows of the
/// matrix and hold different columns. A vector in *column form* is spread over the columns of the
/// grid, each part known to all ranks of its column; in *row form* it is spread over the rows.
/// Sizes that do not divide are rounded, so that a row's part is always that of whole columns.
class CgPartition {
 public:
  /// Refuses numbers of ranks that are no power of two, or leave columns without work.
  static Result<CgPartition> create(const CgProblem& problem, uint32_t ranks);

  uint32_t ranks() const { return grid_rows_ * grid_cols_; }
  uint32_t grid_rows() const { return grid_rows_; }
  uint32_t grid_cols() const { return grid_cols_; }
  uint32_t row_of(uint32_t rank) const { return rank / grid_cols_; }
  uint32_t col_of(uint32_t rank) const { return rank % grid_cols_; }
  uint32_t rank_at(uint32_t row, uint32_t col) const { return row * grid_cols_ + col; }

  /// Where the part of a column or row of the grid starts; the part ends where the next one starts.
  size_t col_begin(uint32_t col) const { return order_ * col / grid_cols_; }
  size_t row_begin(uint32_t row) const { return col_begin(row * (grid_cols_ / grid_rows_)); }

  /// The sums over the ranks of a row are made in this many stages, log2 of the columns.
  size_t stages() const { return stages_; }
  /// The rank of the same row with which `rank` adds in `stage`, the farthest ones first.
  uint32_t sum_partner(uint32_t rank, size_t stage) const {
    return rank_at(row_of(rank), col_of(rank) ^ (grid_cols_ >> (stage + 1)));
  }
  /// The rank with which `rank` exchanges a vector in row form for one in column form. It is itself
  /// the partner of its partner.
  uint32_t transpose_partner(uint32_t rank) const;

  // The arrays that peers access, in doubles from the start of a rank's part of them, which lie
  // alike on all ranks: stages() + 1 vectors in row form, and one in column form.

  size_t shared_elements() const { return product_offset() + col_room_; }
  /// The sums after `stage` stages, in row form.
  size_t sums_offset(size_t stage) const { return stage * row_room_; }
  /// The product, in column form.
  size_t product_offset() const { return (stages_ + 1) * row_room_; }

 private:
  CgPartition(size_t order, uint32_t grid_rows, uint32_t grid_cols);

  size_t order_;
  uint32_t grid_rows_;
  uint32_t grid_cols_;
  size_t stages_ = 0;
  size_t row_room_ = 0;
  size_t col_room_ = 0;
};

/// Sparse rows; the entries of row i are [row_start[i], row_start[i + 1]).
struct SparseRows {
  std::vector<size_t> row_start;
  std::vector<uint32_t> col;
  std::vector<double> value;
};

/// The block [row_begin, row_end) x [col_begin, col_end) of the matrix of `problem`, with columns
/// counted from col_begin. It is made by the rules of NPB's makea: the sum of w_i v_i v_i^T over
/// random sparse vectors v_i with weights that fall geometrically from 1 to 0.1, plus (0.1 - shift)
/// on the diagonal. Every rank draws all the vectors and keeps nothing but its block.
SparseRows make_cg_block(const CgProblem& problem, size_t row_begin, size_t row_end,
                         size_t col_begin, size_t col_end);

}  // namespace stripline::suites::nas
