// One rank's share of NAS CG: its block of the matrix, its parts of the vectors, and the loop
// bodies. No communication: see cg_solver.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/counted_work.h"
#include "suites/kernels/nas/cg_problem.h"

namespace stripline::suites::nas {

/// The block (row, col) of the grid that `me` holds. `shared` has the partition's
/// shared_elements() and outlives the share; peers access it. Not thread-safe.
class CgShare : public CountedWork {
 public:
  CgShare(const CgProblem& problem, const CgPartition& partition, uint32_t me,
          std::span<double> shared);

  const CgProblem& problem() const { return problem_; }
  const CgPartition& partition() const { return partition_; }
  uint32_t me() const { return me_; }

  // The product of the matrix with a vector in column form.

  /// The elements of this rank's part of a vector in row form, and in column form.
  size_t rows() const { return rows_; }
  size_t cols() const { return cols_; }
  /// The sums after `stage` stages; stage 0 are the products with this rank's block alone, stage
  /// partition().stages() the elements of the whole product.
  std::span<double> sums(size_t stage) {
    return shared_.subspan(partition_.sums_offset(stage), rows_);
  }
  /// The product in column form, where the transposition leaves it.
  std::span<double> product() { return shared_.subspan(partition_.product_offset(), cols_); }

  /// Body: multiplies rows [begin, end) of the block with the operand, into sums(0).
  [[gnu::noinline]] void multiply(size_t begin, size_t end);
  /// Body: adds elements [begin, end) of the partner's sums after `stage` stages to this rank's,
  /// which gives them after `stage` + 1; `theirs` points at element `begin`.
  [[gnu::noinline]] void add(size_t stage, size_t begin, size_t end,
                             const double* __restrict theirs);
  /// Where in its transpose partner's whole sums this rank's product() starts.
  size_t transpose_source() const { return transpose_source_; }

  // The vectors of the conjugate-gradient method, all in column form. Sums are over this rank's
  // part; those over a row of the grid are sums over the whole vectors.

  /// The start of the power method: x is all ones.
  void start();
  /// z = 0, r = p = x, with p the operand of the next product. Returns r.r.
  double start_solution();
  /// Returns p.q, q being the product.
  double direction_dot_product();
  /// z += alpha p, r -= alpha q. Returns r.r.
  double step(double alpha);
  /// p = r + beta p.
  void turn(double beta);
  /// Makes z the operand of the next product.
  void check_solution();
  /// Returns the square of |x - q|, q being the product.
  double residual();
  struct Norms {
    double xz;
    double zz;
  };
  Norms norms() const;
  /// x = scale z.
  void next_vector(double scale);

 private:
  CgProblem problem_;
  CgPartition partition_;
  uint32_t me_;
  size_t rows_;
  size_t cols_;
  std::span<double> shared_;
  size_t transpose_source_;
  SparseRows block_;
  AlignedBuffer<double> x_;
  AlignedBuffer<double> z_;
  AlignedBuffer<double> r_;
  AlignedBuffer<double> p_;
  const double* operand_;
};

}  // namespace stripline::suites::nas
