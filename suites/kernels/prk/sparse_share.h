// One rank's share of PRK sparse: its rows of the matrix, its part of the vector, the loop body and
// the verification. No communication: see README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/counted_work.h"

namespace stripline::suites::prk {

/// How far the sum of the result may be from its closed form, relative to it (specification).
inline constexpr double kSparseTolerance = 1e-8;
/// The same of one row: a vector element that is that of a neighbour is to show in any matrix.
inline constexpr double kSparseRowTolerance = 1e-12;

struct SparseSize {
  uint32_t log2_size = 0;  ///< of points along each of two axes
  uint32_t radius = 0;     ///< of the star
};

/// A matrix whose rows are the points of a periodic grid, each with the points of a star around it
/// as its columns. Columns are numbered with the bits of
/// the point's number reversed, so that the neighbours of a row are all over the vector. Rows and
/// vector elements are divided equally.
class SparsePartition {
 public:
  /// Errors: invalid_argument if the ranks do not divide the rows, or the star is wider than the
  /// grid.
  static Result<SparsePartition> create(const SparseSize& size, uint32_t ranks);

  size_t rows() const { return size_t{1} << (2 * size_.log2_size); }
  uint32_t ranks() const { return ranks_; }
  size_t rows_per_rank() const { return rows() / ranks_; }
  /// Entries of a row: 4 radius + 1.
  size_t row_entries() const { return 4 * size_t{size_.radius} + 1; }
  /// Calls `each(column)` for all columns of a row, in any order.
  void for_columns(size_t row, const std::function<void(size_t)>& each) const;

 private:
  SparsePartition(const SparseSize& size, uint32_t ranks) : size_(size), ranks_(ranks) {}
  // The column of a point.
  size_t column_of(size_t i, size_t j) const;

  SparseSize size_;
  uint32_t ranks_;
};

/// An iteration adds column + 1 to every element of the vector, and then the product of the matrix
/// with the vector to the result. `shared` has rows_per_rank() elements, this rank's part of the
/// vector, and outlives the share; peers read it until all have what they need of an iteration. Not
/// thread-safe.
class SparseShare : public CountedWork {
 public:
  SparseShare(const SparsePartition& partition, uint32_t me, std::span<double> shared);

  const SparsePartition& partition() const { return partition_; }
  uint32_t me() const { return me_; }
  /// Entries of the matrix.
  size_t entries() const { return value_.size(); }

  /// Every vector element is salt times column + 1, the result 0. With another salt, data of an
  /// earlier run give a wrong result; the specification begins with 0.
  void start(uint64_t salt);
  /// Body: adds column + 1 to this rank's part of the vector.
  [[gnu::noinline]] void advance();
  /// Body: multiplies the columns [begin, end) of the part of the vector that `owner` has; `data`
  /// points at element `begin`. The matrix lies column by column, so that any part of the vector
  /// can be used and left.
  [[gnu::noinline]] void multiply(uint32_t owner, size_t begin, size_t end,
                                  const double* __restrict data);
  const double* own_part() const { return shared_.data(); }

  struct Sums {
    double sum = 0;         ///< over this rank's rows
    double expected = 0;    ///< its closed form
    size_t wrong_rows = 0;  ///< that are not what they should be
  };
  /// After `iterations` since start(salt) that multiplied the first `covered(owner)` elements of
  /// each rank's part: an entry being 1 / (column + 1), it adds salt + 1 in the first iteration and
  /// one more each time.
  Sums sums(uint64_t salt, size_t iterations,
            const std::function<size_t(uint32_t owner)>& covered) const;

  /// For tests that spoil a result.
  std::span<double> result() { return {result_.data(), result_.size()}; }

 private:
  SparsePartition partition_;
  uint32_t me_;
  std::span<double> shared_;
  std::vector<uint32_t> column_start_;  // of all columns, and the end
  AlignedBuffer<uint32_t> row_;         // of each entry, among this rank's
  AlignedBuffer<double> value_;
  AlignedBuffer<double> result_;
};

}  // namespace stripline::suites::prk
