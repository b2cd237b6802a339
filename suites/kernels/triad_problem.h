// The data of kernel.triad: the loop of the STREAM benchmark, a = b + s c, on integers whose sums
// are exact.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "suites/kernels/counted_work.h"

namespace stripline::suites {

/// One rank's share: its b and c are what a peer, or itself, makes its a of.
///
///   b(i) = i + owner + salt
///   c(i) = 1 + i mod 1021 + salt
///   a(i) = b(i) + s c(i), s = 3 as in STREAM
///
/// STREAM's arrays are constant, which would hide elements that are displaced, left from an earlier
/// repetition or another rank's.
class TriadProblem : public CountedWork {
 public:
  static constexpr double kScalar = 3;
  /// By how much STREAM lets the mean of a differ from what it should be, relative to it. Here
  /// every element is held to it.
  static constexpr double kTolerance = 1e-13;

  TriadProblem(double* a, size_t elements) : a_(a), elements_(elements) {}

  /// An owner's b and c.
  static void fill(double* b, double* c, size_t elements, uint32_t owner, uint64_t salt) {
    for (size_t i = 0; i < elements; ++i) {
      b[i] = b_of(i, owner, salt);
      c[i] = c_of(i, salt);
    }
  }

  /// Before each repetition, outside of the timing.
  void clear_result() {
    for (size_t i = 0; i < elements_; ++i) a_[i] = 0;
  }

  /// The loop body for elements [begin, end), `b` and `c` pointing at element `begin`.
  [[gnu::noinline]] void compute(size_t begin, size_t end, const double* __restrict b,
                                 const double* __restrict c) {
    double* __restrict const a = a_ + begin;
    for (size_t i = 0; i < end - begin; ++i) a[i] = b[i] + kScalar * c[i];
    did(end - begin, 2, 24);
  }

  /// True if a is right after the body has run over elements [0, covered) of what `owner` filled
  /// with `salt`.
  bool verify(uint32_t owner, uint64_t salt, size_t covered) const {
    for (size_t i = 0; i < elements_; ++i) {
      const double expected = i < covered ? b_of(i, owner, salt) + kScalar * c_of(i, salt) : 0;
      // Also where it is not a number.
      if (!(std::abs(a_[i] - expected) <= kTolerance * expected)) return false;
    }
    return true;
  }

 private:
  static double b_of(size_t i, uint32_t owner, uint64_t salt) {
    return static_cast<double>(i + owner + salt);
  }
  static double c_of(size_t i, uint64_t salt) { return static_cast<double>(1 + i % 1021 + salt); }

  double* a_;
  size_t elements_;
};

}  // namespace stripline::suites
