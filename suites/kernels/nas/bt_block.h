// Blocks of five by five numbers, of two lines side by side: what BT's systems consist of.
#pragma once

#include <cstddef>

#include "suites/kernels/nas/adi_line_block.h"

namespace stripline::suites::nas {

struct BtVector {
  LinePair at[kComponents];
};

struct BtBlock {
  LinePair at[kComponents][kComponents];  ///< [row][column]
};

/// y -= a x
inline void subtract_product(BtVector& y, const BtBlock& a, const BtVector& x) {
  for (size_t i = 0; i < kComponents; ++i) {
    LinePair sum = y.at[i];
    for (size_t k = 0; k < kComponents; ++k) sum -= a.at[i][k] * x.at[k];
    y.at[i] = sum;
  }
}

/// c -= a b
inline void subtract_product(BtBlock& c, const BtBlock& a, const BtBlock& b) {
  for (size_t i = 0; i < kComponents; ++i) {
    BtVector row;
    for (size_t j = 0; j < kComponents; ++j) row.at[j] = c.at[i][j];
    for (size_t k = 0; k < kComponents; ++k) {
      const LinePair factor = a.at[i][k];
      for (size_t j = 0; j < kComponents; ++j) row.at[j] -= factor * b.at[k][j];
    }
    for (size_t j = 0; j < kComponents; ++j) c.at[i][j] = row.at[j];
  }
}

/// Replaces c and r by the solutions of a x = c and a x = r; `a` is lost. By Gauss and Jordan
/// without pivoting, as the specification's implementation: the blocks are dominated by their
/// diagonals for the time steps of the classes.
inline void solve(BtBlock& a, BtBlock& c, BtVector& r) {
  for (size_t p = 0; p < kComponents; ++p) {
    const LinePair pivot = 1 / a.at[p][p];
    for (size_t j = p + 1; j < kComponents; ++j) a.at[p][j] *= pivot;
    for (size_t j = 0; j < kComponents; ++j) c.at[p][j] *= pivot;
    r.at[p] *= pivot;
    for (size_t i = 0; i < kComponents; ++i) {
      if (i == p) continue;
      const LinePair factor = a.at[i][p];
      for (size_t j = p + 1; j < kComponents; ++j) a.at[i][j] -= factor * a.at[p][j];
      for (size_t j = 0; j < kComponents; ++j) c.at[i][j] -= factor * c.at[p][j];
      r.at[i] -= factor * r.at[p];
    }
  }
}

}  // namespace stripline::suites::nas
