#include "suites/kernels/nas/ft_share.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "suites/kernels/nas/nas_random.h"

namespace stripline::suites::nas {
namespace {

constexpr double kDiffusion = 1e-6;  // alpha of the specification
constexpr size_t kSamples = 1024;    // of a checksum

// exp(-4 alpha pi^2 k^2) for the wave numbers k of an axis, which is what a time step leaves.
std::vector<double> decay(size_t n) {
  std::vector<double> result(n);
  for (size_t i = 0; i < n; ++i) {
    const double k = static_cast<double>(i < n / 2 ? i : n - i);
    result[i] = std::exp(-4 * kDiffusion * std::numbers::pi * std::numbers::pi * k * k);
  }
  return result;
}

// Different for each place, and of the same order.
std::vector<double> weights(size_t n, NasRandom& random) {
  std::vector<double> result(n);
  for (double& weight : result) weight = 0.5 + random.next();
  return result;
}

// 5 n log2 n for n points, as usual.
double fft_flops_per_point(size_t n) { return 5 * std::log2(static_cast<double>(n)); }

size_t longest(const FtProblem& problem) { return std::max({problem.nx, problem.ny, problem.nz}); }

}  // namespace

FtShare::FtShare(const FtProblem& problem, const FtPartition& partition, uint32_t me,
                 std::span<FtComplex> shared)
    : problem_(problem),
      partition_(partition),
      me_(me),
      shared_(shared),
      transposition_(partition.forward()),
      spectrum_(transposition_.elements()),
      decay_x_(decay(problem.nx)),
      decay_y_(decay(problem.ny)),
      decay_z_(decay(problem.nz)),
      buffer_(4 * longest(problem) * kBatch),
      data_{buffer_.data(), buffer_.data() + longest(problem) * kBatch},
      scratch_{data_.im + longest(problem) * kBatch, data_.im + 2 * longest(problem) * kBatch} {
  NasRandom random;
  weight_x_ = weights(problem.nx, random);
  weight_row_ = weights(longest(problem), random);
  weight_plane_ = weights(longest(problem), random);
  for (const size_t n : {problem.nx, problem.ny, problem.nz}) {
    const auto same = [&](const BatchFft& fft) { return fft.size() == n; };
    if (std::none_of(ffts_.begin(), ffts_.end(), same)) ffts_.emplace_back(n);
  }
  start();
}

const BatchFft& FtShare::fft(size_t n) const {
  return *std::find_if(ffts_.begin(), ffts_.end(),
                       [&](const BatchFft& fft) { return fft.size() == n; });
}

void FtShare::start() {
  forward_ = true;
  transposition_ = partition_.forward();
  departed_ = 0;
  arrived_ = 0;
  NasRandom random;
  random.skip(2 * size_t{me_} * transposition_.elements());
  for (FtComplex& value : source()) {
    const double re = random.next();
    value = {re, random.next()};
  }
}

void FtShare::start_iteration() {
  forward_ = false;
  transposition_ = partition_.inverse();
}

SplitComplex FtShare::transform(const BatchFft& fft, size_t batch) {
  if (forward_) return fft.transform(data_, scratch_, batch);
  return fft.transform(data_.exchanged(), scratch_.exchanged(), batch).exchanged();
}

template <typename Piece>
void FtShare::batches(size_t begin, size_t end, const Piece& piece) const {
  const size_t nx = transposition_.nx;
  while (begin < end) {
    const size_t count = std::min({kBatch, end - begin, nx - begin % nx});
    piece(begin, count);
    begin += count;
  }
}

void FtShare::columns(size_t begin, size_t end) {
  const FtTransposition& t = transposition_;
  const BatchFft& along = fft(t.rows);
  for (size_t plane = begin; plane < end; ++plane) {
    FtComplex* const source_plane = source().data() + t.source(plane, 0);
    FtComplex* const spectrum_plane = spectrum_.data() + plane * t.rows * t.nx;
    const double decay_plane = forward_ ? 1 : decay_y_[me_ * t.planes + plane];
    batches(0, t.nx, [&](size_t first, size_t count) {
      double* __restrict re = data_.re;
      double* __restrict im = data_.im;
      for (size_t row = 0; row < t.rows; ++row, re += count, im += count) {
        if (forward_) {
          const FtComplex* const from = source_plane + row * t.nx + first;
          for (size_t i = 0; i < count; ++i) {
            re[i] = from[i].real();
            im[i] = from[i].imag();
          }
        } else {
          FtComplex* const from = spectrum_plane + row * t.nx + first;
          const double decay_row = decay_plane * decay_z_[row];
          for (size_t i = 0; i < count; ++i) {
            const double factor = decay_row * decay_x_[first + i];
            re[i] = factor * from[i].real();
            im[i] = factor * from[i].imag();
            from[i] = {re[i], im[i]};
          }
        }
      }
      const SplitComplex result = transform(along, count);
      for (size_t row = 0; row < t.rows; ++row) {
        FtComplex* const to = source_plane + row * t.nx + first;
        for (size_t i = 0; i < count; ++i) {
          to[i] = {result.re[row * count + i], result.im[row * count + i]};
        }
      }
    });
  }
  // In an iteration two factors, and the spectrum is written, too.
  did((end - begin) * t.rows * t.nx, fft_flops_per_point(t.rows) + (forward_ ? 0 : 4),
      forward_ ? 32 : 48);
}

void FtShare::rows(size_t plane, size_t begin, size_t end) {
  // Copied in pieces of a line of the cache, since whole rows of a batch evict each other: their
  // distance is a power of two.
  constexpr size_t kPiece = 4;
  const FtTransposition& t = transposition_;
  const BatchFft& along = fft(t.nx);
  const double weight_plane = weight_plane_[me_ * t.planes + plane];
  for (size_t first = begin; first < end; first += kBatch) {
    const size_t count = std::min(kBatch, end - first);
    FtComplex* const start = source().data() + t.source(plane, first);
    for (size_t x = 0; x < t.nx; x += kPiece) {
      for (size_t row = 0; row < count; ++row) {
        const FtComplex* const from = start + row * t.nx + x;
        for (size_t i = 0; i < kPiece; ++i) {
          data_.re[(x + i) * count + row] = from[i].real();
          data_.im[(x + i) * count + row] = from[i].imag();
        }
      }
    }
    const SplitComplex result = transform(along, count);
    std::array<double, kBatch> sum_re{};
    std::array<double, kBatch> sum_im{};
    for (size_t x = 0; x < t.nx; x += kPiece) {
      for (size_t row = 0; row < count; ++row) {
        FtComplex* const to = start + row * t.nx + x;
        for (size_t i = 0; i < kPiece; ++i) {
          const double re = result.re[(x + i) * count + row];
          const double im = result.im[(x + i) * count + row];
          to[i] = {re, im};
          sum_re[row] += weight_x_[x + i] * re;
          sum_im[row] += weight_x_[x + i] * im;
        }
      }
    }
    for (size_t row = 0; row < count; ++row) {
      departed_ += weight_plane * weight_row_[first + row] * FtComplex(sum_re[row], sum_im[row]);
    }
  }
  did((end - begin) * t.nx, fft_flops_per_point(t.nx) + 4, 32);
}

void FtShare::finish(size_t begin, size_t end) {
  const FtTransposition& t = transposition_;
  const size_t distance = t.lines();
  const BatchFft& along = fft(t.depth());
  batches(begin, end, [&](size_t first, size_t count) {
    FtComplex* const start = landing().data() + first;
    const size_t row = first / t.nx;
    const size_t x = first % t.nx;
    std::array<double, kBatch> sum_re{};
    std::array<double, kBatch> sum_im{};
    double* __restrict re = data_.re;
    double* __restrict im = data_.im;
    for (size_t plane = 0; plane < t.depth(); ++plane, re += count, im += count) {
      const FtComplex* const from = start + plane * distance;
      const double weight = weight_plane_[plane];
      for (size_t i = 0; i < count; ++i) {
        re[i] = from[i].real();
        im[i] = from[i].imag();
        sum_re[i] += weight * re[i];
        sum_im[i] += weight * im[i];
      }
    }
    const double weight_row = weight_row_[me_ * t.rows_per_rank() + row];
    for (size_t i = 0; i < count; ++i) {
      arrived_ += weight_row * weight_x_[x + i] * FtComplex(sum_re[i], sum_im[i]);
    }
    const SplitComplex result = transform(along, count);
    // The spectrum is put together by planes of y, for the inverse transform.
    FtComplex* to = forward_ ? spectrum_.data() + row * t.depth() * t.nx + x : start;
    const size_t to_distance = forward_ ? t.nx : distance;
    for (size_t k = 0; k < t.depth(); ++k, to += to_distance) {
      for (size_t i = 0; i < count; ++i) {
        to[i] = {result.re[k * count + i], result.im[k * count + i]};
      }
    }
  });
  did((end - begin) * t.depth(), fft_flops_per_point(t.depth()) + 4, 32);
}

FtComplex FtShare::checksum() {
  const FtTransposition& t = transposition_;
  const std::span<const FtComplex> values = landing();
  FtComplex sum = 0;
  for (size_t j = 1; j <= kSamples; ++j) {
    const size_t z = 5 * j % problem_.nz;
    if (t.reader(z) != me_) continue;
    const size_t y = 3 * j % problem_.ny;
    sum += values[(y * t.rows_per_rank() + z % t.rows_per_rank()) * t.nx + j % problem_.nx];
  }
  return sum / static_cast<double>(problem_.points());
}

}  // namespace stripline::suites::nas
