#include "suites/kernels/nas/batch_fft.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace stripline::suites::nas {
namespace {

struct Root {
  double re;
  double im;
};

// The butterflies of `count` numbers that lie side by side and have their twiddle factors in
// common: from four places `from` apart to four places `count` apart. The numbers before are a, b,
// c, d; the results are their transform of length four, times the powers 0 to 3 of w.
template <bool kTwiddle>
void radix4(const double* __restrict re, const double* __restrict im, size_t from,
            double* __restrict to_re, double* __restrict to_im, size_t count, Root w1, Root w2,
            Root w3) {
  for (size_t i = 0; i < count; ++i) {
    const double ac_re = re[i] + re[i + 2 * from];
    const double ac_im = im[i] + im[i + 2 * from];
    const double bd_re = re[i + from] + re[i + 3 * from];
    const double bd_im = im[i + from] + im[i + 3 * from];
    const double a_c_re = re[i] - re[i + 2 * from];
    const double a_c_im = im[i] - im[i + 2 * from];
    const double b_d_re = re[i + from] - re[i + 3 * from];
    const double b_d_im = im[i + from] - im[i + 3 * from];
    // (a - c) -+ i (b - d)
    const double y1_re = a_c_re + b_d_im;
    const double y1_im = a_c_im - b_d_re;
    const double y2_re = ac_re - bd_re;
    const double y2_im = ac_im - bd_im;
    const double y3_re = a_c_re - b_d_im;
    const double y3_im = a_c_im + b_d_re;
    to_re[i] = ac_re + bd_re;
    to_im[i] = ac_im + bd_im;
    if constexpr (kTwiddle) {
      to_re[i + count] = y1_re * w1.re - y1_im * w1.im;
      to_im[i + count] = y1_re * w1.im + y1_im * w1.re;
      to_re[i + 2 * count] = y2_re * w2.re - y2_im * w2.im;
      to_im[i + 2 * count] = y2_re * w2.im + y2_im * w2.re;
      to_re[i + 3 * count] = y3_re * w3.re - y3_im * w3.im;
      to_im[i + 3 * count] = y3_re * w3.im + y3_im * w3.re;
    } else {
      to_re[i + count] = y1_re;
      to_im[i + count] = y1_im;
      to_re[i + 2 * count] = y2_re;
      to_im[i + 2 * count] = y2_im;
      to_re[i + 3 * count] = y3_re;
      to_im[i + 3 * count] = y3_im;
    }
  }
}

// The last stage of a length that is no power of four.
void radix2(const double* __restrict from, double* __restrict to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    to[i] = from[i] + from[i + count];
    to[i + count] = from[i] - from[i + count];
  }
}

}  // namespace

BatchFft::BatchFft(size_t n) : n_(n), root_re_(n), root_im_(n) {
  for (size_t j = 0; j < n; ++j) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n);
    root_re_[j] = std::cos(angle);
    root_im_[j] = std::sin(angle);
  }
}

SplitComplex BatchFft::transform(SplitComplex data, SplitComplex scratch, size_t batch) const {
  // In each stage there are transforms of length `length` to be made, of numbers side * apart.
  size_t length = n_;
  size_t side = batch;
  for (; length >= 4; length /= 4, side *= 4) {
    const size_t quarter = length / 4;
    const size_t step = n_ / length;
    for (size_t p = 0; p < quarter; ++p) {
      const double* const re = data.re + p * side;
      const double* const im = data.im + p * side;
      double* const to_re = scratch.re + 4 * p * side;
      double* const to_im = scratch.im + 4 * p * side;
      if (p == 0) {
        radix4<false>(re, im, quarter * side, to_re, to_im, side, {}, {}, {});
      } else {
        const auto root = [&](size_t power) {
          return Root{root_re_[power * p * step], root_im_[power * p * step]};
        };
        radix4<true>(re, im, quarter * side, to_re, to_im, side, root(1), root(2), root(3));
      }
    }
    std::swap(data, scratch);
  }
  if (length == 2) {
    radix2(data.re, scratch.re, side);
    radix2(data.im, scratch.im, side);
    std::swap(data, scratch);
  }
  return data;
}

}  // namespace stripline::suites::nas
