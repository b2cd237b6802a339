// One rank's share of PRK transpose: its columns of both matrices, the loop body and the
// verification. No communication: see README.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/counted_work.h"

namespace stripline::suites::prk {

/// The sum of the absolute errors that the specification allows.
inline constexpr double kTransposeTolerance = 1e-8;

/// Matrices of order n, of which each of P ranks has m = n / P columns. The specification lays them
/// out column by column; here A lies in P blocks instead, block r holding the m rows that rank r
/// reads of these columns (column by column, too), so that what one rank reads is contiguous.
class TransposePartition {
 public:
  /// Errors: invalid_argument if the ranks do not divide the order.
  static Result<TransposePartition> create(size_t order, uint32_t ranks);

  size_t order() const { return order_; }
  uint32_t ranks() const { return ranks_; }
  size_t columns() const { return order_ / ranks_; }
  size_t block_elements() const { return columns() * columns(); }
  /// Elements of A, which peers access.
  size_t shared_elements() const { return order_ * columns(); }
  /// Where in an owner's A the block for `reader` starts.
  size_t block_start(uint32_t reader) const { return reader * block_elements(); }

 private:
  TransposePartition(size_t order, uint32_t ranks) : order_(order), ranks_(ranks) {}

  size_t order_;
  uint32_t ranks_;
};

/// An iteration is B += transposed A, then A += 1. `shared` has the partition's shared_elements()
/// and outlives the share; peers read it until all have what they need of an iteration. Not
/// thread-safe.
class TransposeShare : public CountedWork {
 public:
  TransposeShare(const TransposePartition& partition, uint32_t me, std::span<double> shared);

  const TransposePartition& partition() const { return partition_; }
  uint32_t me() const { return me_; }

  /// A(i, j) = n j + i + salt, B = 0. With another salt, data of an earlier run give a wrong
  /// result; the specification has none.
  void start(uint64_t salt);

  /// Body: adds elements [begin, end) of the block that `owner` has for this rank, `data` pointing
  /// at element `begin`. Whole columns are gone through in tiles, so that what is added to is
  /// contiguous in pieces of two cache lines.
  [[gnu::noinline]] void add(uint32_t owner, size_t begin, size_t end,
                             const double* __restrict data);
  /// What strips are a multiple of: the columns that add() goes through together, or a column of
  /// blocks that the first cache holds anyway.
  size_t tile_elements() const { return (m_ > kCachedColumns ? kTileColumns : size_t{1}) * m_; }
  /// The block that this rank has for itself.
  const double* own_block() const { return shared_.data() + partition_.block_start(me_); }

  /// Body: A += 1.
  [[gnu::noinline]] void advance();

  /// The sum of the absolute errors of what came from `owner` in `iterations` since start(salt), if
  /// they added the first `elements` of its block: n i + j + salt, once for each iteration, and one
  /// more each time.
  double error(uint32_t owner, uint64_t salt, size_t iterations, size_t elements) const;

  /// For tests that spoil a result.
  std::span<double> result() { return {result_.data(), result_.size()}; }

 private:
  static constexpr size_t kTileColumns = 16;
  static constexpr size_t kCachedColumns = 32;  // of 32 elements of 8 bytes

  TransposePartition partition_;
  uint32_t me_;
  size_t n_;
  size_t m_;
  std::span<double> shared_;
  AlignedBuffer<double> result_;  // column by column
};

}  // namespace stripline::suites::prk
