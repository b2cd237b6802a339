// The data of kernel.transpose: a matrix of complex numbers in slabs of rows over the ranks, to be
// transposed, as in the NAS FT benchmark. Each rank reads one contiguous block from every other
// rank and writes it transposed into its own slab.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/counted_work.h"
#include "suites/kernels/row_tiles.h"

namespace stripline::suites {

struct Complex {
  double re = 0;
  double im = 0;
};

/// One rank's share of an n x n matrix over P ranks; m = n / P.
///
/// The source of rank q holds P blocks of m x m, block r being what rank r needs, row by row:
///   source_q[r](i, j) = element (q m + i, r m + j) = (q m + i + salt) + (r m + j) i
/// The destination of rank r holds m rows of n: destination_r(j, q m + i) = w element(q m + i,
/// r m + j), w being the sum of the weights 1..passes: each pass goes over the elements again and
/// adds its weight, as a longer computation would.
class TransposeProblem : public CountedWork {
 public:
  TransposeProblem(size_t n, uint32_t ranks, uint32_t me, size_t passes)
      : n_(n), m_(n / ranks), me_(me), passes_(passes), destination_(m_ * n) {}

  size_t block_elements() const { return m_ * m_; }
  /// What strips are a multiple of: the rows that compute() goes through together, or a row of
  /// blocks that the first cache holds anyway.
  size_t tile_elements() const { return (m_ > kCachedRows ? kTileRows : size_t{1}) * m_; }
  size_t source_elements() const { return m_ * n_; }
  /// Where the block for `reader` starts in an owner's source.
  size_t block_start(uint32_t reader) const { return reader * block_elements(); }

  /// This rank's source.
  void fill(Complex* source, uint64_t salt) const {
    for (size_t r = 0; r < n_ / m_; ++r) {
      for (size_t i = 0; i < m_; ++i) {
        for (size_t j = 0; j < m_; ++j) {
          *source++ = {static_cast<double>(me_ * m_ + i + salt), static_cast<double>(r * m_ + j)};
        }
      }
    }
  }

  /// Before each repetition, outside of the timing.
  void clear_result() { destination_.clear(); }

  /// The loop body for elements [begin, end) of the block of rank `owner`, `data` pointing at
  /// element `begin`. Whole rows are gone through in tiles of eight, so that what is written is
  /// contiguous in pieces of two cache lines. All variants call this one; it is not inlined, so
  /// that they run the same machine code.
  [[gnu::noinline]] void compute(uint32_t owner, size_t begin, size_t end,
                                 const Complex* __restrict data) {
    for_row_tiles(begin, end, m_, kTileRows,
                  [&](size_t row, size_t rows, size_t col, size_t cols, size_t offset) {
                    tile(owner, row, rows, col, cols, data + offset);
                  });
    did(end - begin, 4 * static_cast<double>(passes_ - 1), 32);
  }

  /// True if the part of the destination that came from `owner` is right after the body has run
  /// over elements [0, elements) of its block, filled with `salt`.
  bool verify(uint32_t owner, uint64_t salt, size_t elements) const {
    const size_t weights = passes_ * (passes_ + 1) / 2;
    const auto weight = static_cast<double>(weights);
    for (size_t i = 0; i < m_; ++i) {
      for (size_t j = 0; j < m_; ++j) {
        const Complex& got = destination_[j * n_ + owner * m_ + i];
        const bool covered = i * m_ + j < elements;
        const double re = covered ? weight * static_cast<double>(owner * m_ + i + salt) : 0;
        const double im = covered ? weight * static_cast<double>(me_ * m_ + j) : 0;
        if (got.re != re || got.im != im) return false;
      }
    }
    return true;
  }

  /// For tests that spoil a result.
  Complex* result() { return destination_.data(); }

 private:
  static constexpr size_t kTileRows = 8;
  static constexpr size_t kCachedRows = 32;  // of 32 elements of 16 bytes

  void tile(uint32_t owner, size_t row, size_t rows, size_t col, size_t cols,
            const Complex* __restrict data) {
    Complex* __restrict corner = destination_.data() + col * n_ + owner * m_ + row;
    const size_t row_length = rows == 1 ? cols : m_;
    for (size_t j = 0; j < cols; ++j) {
      for (size_t i = 0; i < rows; ++i) corner[j * n_ + i] = data[i * row_length + j];
    }
    for (size_t pass = 2; pass <= passes_; ++pass) {
      const double weight = static_cast<double>(pass);
      for (size_t j = 0; j < cols; ++j) {
        for (size_t i = 0; i < rows; ++i) {
          corner[j * n_ + i].re += weight * data[i * row_length + j].re;
          corner[j * n_ + i].im += weight * data[i * row_length + j].im;
        }
      }
    }
  }

  size_t n_;
  size_t m_;
  uint32_t me_;
  size_t passes_;
  AlignedBuffer<Complex> destination_;  // m x n
};

}  // namespace stripline::suites
