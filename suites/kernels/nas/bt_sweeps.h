// The sweeps of the NAS benchmark BT: block-tridiagonal systems along the lines of each axis
// (Beam-Warming approximate factorisation; RNR-94-007, section 3).
#pragma once

#include <cstddef>

#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/nas/adi_line_block.h"
#include "suites/kernels/nas/adi_share.h"

namespace stripline::suites::nas {

/// One rank's part in the sweeps. Every row of blocks is scaled such that its diagonal block is the
/// identity. The elimination hands on the last row of each line, its upper block row by row and its
/// right-hand side; the back substitution the solution in the first point. A rank is one thread.
class BtSweeps {
 public:
  static constexpr AdiWidths kWidths = {.forward = kComponents * kComponents + kComponents,
                                        .backward = kComponents};

  explicit BtSweeps(AdiShare& share);

  /// Eliminates along lines [begin, end) of the cell; `received` is null in the first cell of the
  /// sweep and `results` in the last.
  [[gnu::noinline]] void eliminate(int axis, int cell, size_t begin, size_t end,
                                   const double* received, double* results);

  /// Solves these lines, from their high end; the solution takes the right-hand side's place.
  [[gnu::noinline]] void back_substitute(int axis, int cell, size_t begin, size_t end,
                                         const double* received, double* results);

 private:
  static constexpr size_t kBlock = kComponents * kComponents;

  template <int kAxis>
  void eliminate_block(const LineBlock& block, const double* received, double* results);
  void substitute_block(const LineBlock& block, const double* received, double* results);

  double* upper_at(size_t point) { return upper_.data() + point * kBlock; }

  AdiShare& share_;
  AlignedBuffer<double> upper_;
};

}  // namespace stripline::suites::nas
