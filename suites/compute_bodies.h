// The inner loops that kernels compute with and that micro.compute measures: one definition, so
// that T_red and T_vec (Iancu et al., section 6.1) describe the loops they are used to predict.
//
// Reductions keep four partial sums, as a programmer (or a compiler that may reassociate) writes
// them: a single one would be bound by the latency of the addition, not by the memory. All data of
// the suites are integers of at most 2^53 in size, so that every order of summation is exact.
#pragma once

#include <cstddef>

namespace stripline::suites {

/// sum of a[i]
inline double reduce(const double* __restrict a, size_t n) {
  double s0 = 0;
  double s1 = 0;
  double s2 = 0;
  double s3 = 0;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    s0 += a[i];
    s1 += a[i + 1];
    s2 += a[i + 2];
    s3 += a[i + 3];
  }
  for (; i < n; ++i) s0 += a[i];
  return (s0 + s1) + (s2 + s3);
}

/// sum of a[i] * b[i]
inline double dot(const double* __restrict a, const double* __restrict b, size_t n) {
  double s0 = 0;
  double s1 = 0;
  double s2 = 0;
  double s3 = 0;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  for (; i < n; ++i) s0 += a[i] * b[i];
  return (s0 + s1) + (s2 + s3);
}

/// a[i] += b[i]
inline void accumulate(double* __restrict a, const double* __restrict b, size_t n) {
  for (size_t i = 0; i < n; ++i) a[i] += b[i];
}

/// A chain of n dependent additions.
inline double chain(double start, double step, size_t n) {
  double value = start;
  for (size_t i = 0; i < n; ++i) value += step;
  return value;
}

}  // namespace stripline::suites
