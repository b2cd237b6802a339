// The sweeps of the NAS benchmark SP: scalar pentadiagonal systems along the lines of each axis
// (Beam-Warming approximate factorisation, diagonalised; Pulliam and Chaussee, "A diagonal form of
// an implicit approximate-factorization algorithm", J. Comp. Phys. 39, 1981; RNR-94-007, section
// 3).
#pragma once

#include <cstddef>

#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/nas/adi_line_block.h"
#include "suites/kernels/nas/adi_share.h"

namespace stripline::suites::nas {

/// One rank's part in the sweeps. In the basis of an axis' eigenvectors the five equations of a
/// line are separate; three share the matrix of the eigenvalue v, the flow along the axis, and two
/// have those of v + c and v - c, c being the speed of sound.
///
/// Every row is scaled such that its diagonal is one. The elimination hands on of the last two rows
/// of each line, the earlier one first: their two upper coefficients in each matrix, and their five
/// right-hand sides; the back substitution the solution in the first two points. A rank is one
/// thread.
class SpSweeps {
 public:
  static constexpr AdiWidths kWidths = {.forward = 22, .backward = 10};

  explicit SpSweeps(AdiShare& share);

  /// Derives velocities and the speed of sound from u and its ghosts, and brings the right-hand
  /// side into the eigenvectors of the x axis.
  [[gnu::noinline]] void prepare(int cell);

  /// Eliminates along lines [begin, end) of the cell; `received` is null in the first cell of the
  /// sweep and `results` in the last.
  [[gnu::noinline]] void eliminate(int axis, int cell, size_t begin, size_t end,
                                   const double* received, double* results);

  /// Solves these lines, from their high end, and brings the solution into the eigenvectors of the
  /// next axis, after the last one into the change of u.
  [[gnu::noinline]] void back_substitute(int axis, int cell, size_t begin, size_t end,
                                         const double* received, double* results);

 private:
  static constexpr size_t kMatrices = 3;
  /// For each matrix, the two upper coefficients of a scaled row.
  static constexpr size_t kUpper = 2 * kMatrices;
  /// Per point: 1 / density, three velocities, speed of sound.
  static constexpr size_t kDerived = 5;

  template <int kAxis>
  void eliminate_block(const LineBlock& block, const double* received, double* results);
  template <int kAxis>
  void substitute_block(const LineBlock& block, const double* received, double* results);

  const double* derived_at(size_t point) const { return derived_.data() + point * kDerived; }
  double* upper_at(size_t point) { return upper_.data() + point * kUpper; }

  AdiShare& share_;
  AlignedBuffer<double> derived_;
  AlignedBuffer<double> upper_;
};

}  // namespace stripline::suites::nas
