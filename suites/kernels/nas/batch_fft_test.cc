#include "suites/kernels/nas/batch_fft.h"

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "suites/kernels/nas/nas_random.h"

namespace stripline::suites::nas {
namespace {

using Numbers = std::vector<std::complex<double>>;

// By the definition.
Numbers transform_of(const Numbers& x, double sign) {
  Numbers y(x.size());
  const auto n = static_cast<double>(x.size());
  for (size_t k = 0; k < x.size(); ++k) {
    for (size_t j = 0; j < x.size(); ++j) {
      const double turns = static_cast<double>(j * k % x.size()) / n;
      y[k] += x[j] * std::polar(1.0, sign * 2 * std::numbers::pi * turns);
    }
  }
  return y;
}

double largest_difference(const Numbers& a, const Numbers& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST(BatchFft, IsTheTransformOfEachSequence) {
  for (const size_t n : {1, 2, 4, 8, 32, 64, 128, 512}) {
    for (const size_t batch : {1, 3, 8}) {
      NasRandom random;
      std::vector<Numbers> sequences(batch, Numbers(n));
      std::vector<double> buffer(4 * n * batch);
      const SplitComplex data{buffer.data(), buffer.data() + n * batch};
      const SplitComplex scratch{data.im + n * batch, data.im + 2 * n * batch};
      for (const bool inverse : {false, true}) {
        for (size_t j = 0; j < n; ++j) {
          for (size_t b = 0; b < batch; ++b) {
            const double re = random.next() - 0.5;
            sequences[b][j] = {re, random.next() - 0.5};
            data.re[j * batch + b] = sequences[b][j].real();
            data.im[j * batch + b] = sequences[b][j].imag();
          }
        }
        const BatchFft fft(n);
        const SplitComplex result =
            inverse ? fft.transform(data.exchanged(), scratch.exchanged(), batch).exchanged()
                    : fft.transform(data, scratch, batch);
        for (size_t b = 0; b < batch; ++b) {
          Numbers got(n);
          for (size_t k = 0; k < n; ++k) {
            got[k] = {result.re[k * batch + b], result.im[k * batch + b]};
          }
          EXPECT_LT(largest_difference(got, transform_of(sequences[b], inverse ? 1 : -1)),
                    1e-14 * static_cast<double>(n))
              << n << " numbers, sequence " << b << " of " << batch;
        }
      }
    }
  }
}

}  // namespace
}  // namespace stripline::suites::nas
