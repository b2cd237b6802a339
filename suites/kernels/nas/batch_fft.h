// Fast Fourier transforms of several sequences of the same length at once.
#pragma once

#include <cstddef>
#include <vector>

namespace stripline::suites::nas {

/// Complex numbers as two arrays.
struct SplitComplex {
  double* re;
  double* im;

  /// With real and imaginary parts exchanged. The transform of the exchanged numbers is the inverse
  /// transform, exchanged.
  SplitComplex exchanged() const { return {im, re}; }
};

/// y(k) = sum over j of x(j) exp(-2 pi i j k / n), for n a power of two, by Stockham's algorithm
/// with radix 4 (Van Loan, Computational Frameworks for the Fast Fourier Transform, section 1.7):
/// it needs no bit reversal, and its inner loops run over the sequences of a batch, which lie side
/// by side. Thread-safe.
class BatchFft {
 public:
  explicit BatchFft(size_t n);

  size_t size() const { return n_; }

  /// Transforms `batch` sequences; element j of sequence b is at j * batch + b. Returns where the
  /// result is, `data` or `scratch`; the other one is undefined.
  SplitComplex transform(SplitComplex data, SplitComplex scratch, size_t batch) const;

 private:
  size_t n_;
  // exp(-2 pi i j / n) for j < n.
  std::vector<double> root_re_;
  std::vector<double> root_im_;
};

}  // namespace stripline::suites::nas
