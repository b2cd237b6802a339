// One rank's share of NAS MG: its parts of the grids and the loop bodies. No communication: see
// mg_solver.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/counted_work.h"
#include "suites/kernels/nas/mg_problem.h"

namespace stripline::suites::nas {

/// A computation whose result needs ghosts, plane by plane along axis 2. `level` is that of the
/// result.
struct MgStep {
  enum Kind {
    residual,  ///< r = v - A u, where v is the right-hand side on the finest level, r elsewhere
    smooth,    ///< u = u + S r
    restrict   ///< r = P (r of the level above)
  };
  Kind kind;
  size_t level;

  MgArray result() const { return kind == smooth ? MgArray::u : MgArray::r; }
};

/// `shared` has the partition's shared_elements() and outlives the share; peers access it. Not
/// thread-safe.
class MgShare : public CountedWork {
 public:
  MgShare(const MgProblem& problem, const MgPartition& partition, uint32_t me,
          std::span<double> shared);

  const MgProblem& problem() const { return problem_; }
  const MgPartition& partition() const { return partition_; }
  uint32_t me() const { return me_; }
  std::span<double> shared() { return shared_; }

  /// u = 0 on the finest level.
  void start();

  /// The planes that compute() goes through: those of the result, or, when a replicated level is
  /// restricted from a divided one, those of this rank's block.
  size_t planes(MgStep step) const;
  /// Body: computes planes [begin, end), counted without ghosts, from arrays whose ghosts are in
  /// place.
  [[gnu::noinline]] void compute(MgStep step, size_t begin, size_t end);
  /// The face of ghosts of a step's result that this rank needs.
  MgFace face(MgStep step, size_t axis, bool up) const {
    return partition_.face(me_, step.result(), step.level, axis, up);
  }
  /// Fills the ghosts of the result on a replicated level.
  void wrap(MgStep step);

  /// u = 0 on a coarse level.
  void clear_solution(size_t level);
  /// Body: u = u + Q (u of the level below), with ghosts from ghosts.
  [[gnu::noinline]] void interpolate(size_t level);

  struct Norms {
    double sum_of_squares;
    double largest;
  };
  /// Norms of this rank's part of the finest residual.
  Norms norms() const;

 private:
  double* array(MgArray array, size_t level) {
    return shared_.data() + partition_.offset(array, level);
  }
  // Where in a level's array this rank's own part starts, seen from the level above: its block on
  // the finest replicated level, everything elsewhere. In doubles, and without ghosts.
  size_t own_part(size_t level) const;
  void residual_planes(size_t level, size_t begin, size_t end);
  void smooth_planes(size_t level, size_t begin, size_t end);
  void restrict_planes(size_t level, size_t begin, size_t end);

  MgProblem problem_;
  MgPartition partition_;
  uint32_t me_;
  std::span<double> shared_;
  AlignedBuffer<double> v_;
  // Sums across rows, for which neighbouring points share the work.
  std::vector<double> faces_;
  std::vector<double> edges_;
};

}  // namespace stripline::suites::nas
