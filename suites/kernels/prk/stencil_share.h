// One rank's share of PRK stencil: its block with ghosts, the loop bodies and what the verification
// needs. No communication: see stencil_solver.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/counted_work.h"
#include "suites/kernels/prk/stencil_partition.h"

namespace stripline::suites::prk {

/// How much the points grow along each axis, and how far the norm, and here every element, of the
/// result may be from what it should be (specification).
inline constexpr double kStencilSlope = 1;
inline constexpr double kStencilTolerance = 1e-8;

/// The star stencil: a point's result grows by the differences of the points at distance d on
/// opposite sides along both axes, times 1 / (2 d radius). Points nearer to the edge of the whole
/// grid than the radius have no result. `shared` has the partition's shared_elements() and outlives
/// the share; peers write the ghosts in it. Not thread-safe.
class StencilShare : public CountedWork {
 public:
  StencilShare(const StencilPartition& partition, uint32_t me, std::span<double> shared);

  const StencilPartition& partition() const { return partition_; }
  uint32_t me() const { return me_; }
  std::span<double> shared() { return shared_; }

  /// The point (x, y) of the grid is x + y + salt, the result 0. Ghosts are no numbers, so that one
  /// which does not come shows.
  void start(uint64_t salt);

  /// The rows of points that need no ghosts.
  size_t interior_rows() const { return rows_ - 2 * radius_; }
  /// Body: such rows [begin, end).
  [[gnu::noinline]] void compute_interior(size_t begin, size_t end);
  /// Body: all other points, with ghosts in place.
  [[gnu::noinline]] void compute_boundary();
  /// Body: adds 1 to every point of the block, after all have been computed and what left for the
  /// neighbours may be written.
  [[gnu::noinline]] void advance();

  struct Sums {
    double sum = 0;           ///< of the absolute values
    size_t wrong_points = 0;  ///< that are not what they should be
  };
  /// Sums over the result of this rank's points that have one, after `iterations` since start():
  /// each adds the slopes along both axes.
  Sums sums(size_t iterations) const;

  /// For tests that compare, or spoil, a result: row by row, without ghosts.
  std::span<double> result() { return {result_.data(), result_.size()}; }

 private:
  // Columns [left, right) of rows [lower, upper).
  void compute(size_t left, size_t right, size_t lower, size_t upper);

  StencilPartition partition_;
  uint32_t me_;
  size_t radius_;
  size_t columns_;
  size_t rows_;
  // The points that have a result.
  size_t left_;
  size_t right_;
  size_t lower_;
  size_t upper_;
  std::span<double> shared_;
  std::vector<double> weights_;  // by distance - 1
  AlignedBuffer<double> result_;
};

}  // namespace stripline::suites::prk
