// The data of kernel.matvec: the loop of Figure 2 of Iancu et al., a remote matrix times local
// vectors, on integers whose products have a closed form.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "suites/compute_bodies.h"
#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/counted_work.h"

namespace stripline::suites {

/// One rank's share: it owns a matrix that a peer reads, and multiplies a peer's matrix.
///
///   a(i, j) = i + j + salt         what a peer reads
///   b_p(j)  = 1 + (j + p) mod 5    the local vectors, one per pass
///   c_p(i)  = sum over j of a(i, j) b_p(j) = (i + salt) sum b_p(j) + sum j b_p(j)
///
/// The owner changes `salt` for every repetition, so that data left from an earlier one give a
/// wrong result. Displaced elements change c, because a grows along rows and columns. Every number
/// is an integer below 2^53, hence exact in any order of summation, for up to 2^20 rows and
/// columns.
class MatvecProblem : public CountedWork {
 public:
  MatvecProblem(size_t rows, size_t cols, size_t passes)
      : rows_(rows), cols_(cols), passes_(passes), vectors_(passes * cols), result_(passes * rows) {
    for (size_t p = 0; p < passes; ++p) {
      for (size_t j = 0; j < cols; ++j) {
        vectors_[p * cols + j] = static_cast<double>(1 + (j + p) % 5);
      }
    }
  }

  /// The owner's matrix, row by row.
  static void fill(double* matrix, size_t rows, size_t cols, uint64_t salt) {
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < cols; ++j) {
        matrix[i * cols + j] = static_cast<double>(i + j + salt);
      }
    }
  }

  /// Before each repetition, outside of the timing.
  void clear_result() { result_.clear(); }

  /// The loop body for elements [begin, end) of the matrix, `data` pointing at element `begin`. All
  /// variants call this one; it is not inlined, so that they run the same machine code.
  [[gnu::noinline]] void compute(size_t begin, size_t end, const double* __restrict data) {
    double* const result = result_.data();
    const double* const vectors = vectors_.data();
    size_t row = begin / cols_;
    size_t col = begin - row * cols_;
    for (size_t at = begin; at < end; ++row, col = 0) {
      const size_t n = std::min(cols_ - col, end - at);
      for (size_t p = 0; p < passes_; ++p) {
        result[p * rows_ + row] += dot(data, vectors + p * cols_ + col, n);
      }
      data += n;
      at += n;
    }
    did(end - begin, 2 * static_cast<double>(passes_), 8);
  }

  /// True if every element of the result is right after the body has run over elements
  /// [0, elements) of the matrix that was filled with `salt`.
  bool verify(uint64_t salt, size_t elements) const {
    for (size_t p = 0; p < passes_; ++p) {
      for (size_t i = 0; i < rows_; ++i) {
        const size_t covered = std::min(cols_, elements - std::min(elements, i * cols_));
        if (result_[p * rows_ + i] != expected(p, i, covered, salt)) return false;
      }
    }
    return true;
  }

  /// For tests that spoil a result.
  double* result() { return result_.data(); }

 private:
  // Sums over the first n columns.
  double expected(size_t p, size_t i, size_t n, uint64_t salt) const {
    if (n != cached_n_ || p != cached_p_) {
      cached_n_ = n;
      cached_p_ = p;
      sum_b_ = 0;
      sum_jb_ = 0;
      for (size_t j = 0; j < n; ++j) {
        const double b = static_cast<double>(1 + (j + p) % 5);
        sum_b_ += b;
        sum_jb_ += static_cast<double>(j) * b;
      }
    }
    return static_cast<double>(i + salt) * sum_b_ + sum_jb_;
  }

  size_t rows_;
  size_t cols_;
  size_t passes_;
  AlignedBuffer<double> vectors_;  // [pass][col]
  AlignedBuffer<double> result_;   // [pass][row]
  mutable size_t cached_n_ = SIZE_MAX;
  mutable size_t cached_p_ = SIZE_MAX;
  mutable double sum_b_ = 0;
  mutable double sum_jb_ = 0;
};

}  // namespace stripline::suites
