// One rank's share of NAS FT: its slabs and the loop bodies. No communication: see ft_solver.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/counted_work.h"
#include "suites/kernels/nas/batch_fft.h"
#include "suites/kernels/nas/ft_problem.h"

namespace stripline::suites::nas {

/// `shared` has the partition's shared_elements() and outlives the share; peers access it. Not
/// thread-safe.
class FtShare : public CountedWork {
 public:
  FtShare(const FtProblem& problem, const FtPartition& partition, uint32_t me,
          std::span<FtComplex> shared);

  const FtProblem& problem() const { return problem_; }
  const FtPartition& partition() const { return partition_; }
  uint32_t me() const { return me_; }

  /// Makes the initial state; the next transposition is the forward one.
  void start();
  /// The next transposition is one of the inverse transforms, which goes one time step further.
  void start_iteration();

  // The transform in progress.

  const FtTransposition& transposition() const { return transposition_; }
  std::span<FtComplex> source() {
    return shared_.subspan(partition_.source_offset(), transposition_.elements());
  }
  std::span<FtComplex> landing() {
    return shared_.subspan(partition_.landing_offset(), transposition_.elements());
  }
  /// Body: transforms planes [begin, end) of the source along the second axis; in an iteration it
  /// makes them first.
  [[gnu::noinline]] void columns(size_t begin, size_t end);
  /// Body: transforms rows [begin, end) of a plane whose columns are done. Then they can leave.
  [[gnu::noinline]] void rows(size_t plane, size_t begin, size_t end);
  /// Body: transforms lines [begin, end) through the landing, when all of them has come.
  [[gnu::noinline]] void finish(size_t begin, size_t end);

  // The verification.

  /// This rank's part of the checksum of an iteration.
  FtComplex checksum();
  /// Weighted sums over everything that left this rank in any transposition, and that came. The
  /// weights depend on the place in the whole array: over all ranks both are equal, but for
  /// rounding, if every number came right.
  FtComplex departed() const { return departed_; }
  FtComplex arrived() const { return arrived_; }

 private:
  // Sequences side by side, enough to fill vectors and lines of the cache, and few enough for the
  // longest ones to stay in the second-level cache.
  static constexpr size_t kBatch = 16;

  // Calls `pieces(first, count)` for lines [begin, end) in batches that lie side by side.
  template <typename Piece>
  void batches(size_t begin, size_t end, const Piece& piece) const;
  SplitComplex transform(const BatchFft& fft, size_t batch);
  const BatchFft& fft(size_t n) const;

  FtProblem problem_;
  FtPartition partition_;
  uint32_t me_;
  std::span<FtComplex> shared_;
  FtTransposition transposition_;
  bool forward_ = true;
  AlignedBuffer<FtComplex> spectrum_;  // [own y][z][x]
  // Factors of a time step along each axis, and the weights of the verification.
  std::vector<double> decay_x_;
  std::vector<double> decay_y_;
  std::vector<double> decay_z_;
  std::vector<double> weight_x_;
  std::vector<double> weight_row_;
  std::vector<double> weight_plane_;
  std::vector<BatchFft> ffts_;
  AlignedBuffer<double> buffer_;
  SplitComplex data_;
  SplitComplex scratch_;
  FtComplex departed_;
  FtComplex arrived_;
};

}  // namespace stripline::suites::nas
