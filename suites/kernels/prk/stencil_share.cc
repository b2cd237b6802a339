#include "suites/kernels/prk/stencil_share.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stripline::suites::prk {

StencilShare::StencilShare(const StencilPartition& partition, uint32_t me, std::span<double> shared)
    : partition_(partition),
      me_(me),
      radius_(partition.radius()),
      columns_(partition.columns(me)),
      rows_(partition.rows(me)),
      left_(partition.face(me, StencilSide::left) ? 0 : radius_),
      right_(partition.face(me, StencilSide::right) ? columns_ : columns_ - radius_),
      lower_(partition.face(me, StencilSide::lower) ? 0 : radius_),
      upper_(partition.face(me, StencilSide::upper) ? rows_ : rows_ - radius_),
      shared_(shared),
      result_(columns_ * rows_) {
  for (size_t distance = 1; distance <= radius_; ++distance) {
    weights_.push_back(1 / static_cast<double>(2 * distance * radius_));
  }
}

void StencilShare::start(uint64_t salt) {
  std::fill(shared_.begin(), shared_.end(), std::numeric_limits<double>::quiet_NaN());
  const size_t x = partition_.first_column(me_);
  const size_t y = partition_.first_row(me_);
  for (size_t row = 0; row < rows_; ++row) {
    double* const points = shared_.data() + partition_.at(0, row);
    for (size_t column = 0; column < columns_; ++column) {
      points[column] =
          kStencilSlope * static_cast<double>(x + column + y + row) + static_cast<double>(salt);
    }
  }
  result_.clear();
}

void StencilShare::compute_interior(size_t begin, size_t end) {
  compute(radius_, columns_ - radius_, radius_ + begin, radius_ + end);
}

void StencilShare::compute_boundary() {
  compute(left_, right_, lower_, radius_);
  compute(left_, radius_, radius_, rows_ - radius_);
  compute(columns_ - radius_, right_, radius_, rows_ - radius_);
  compute(left_, right_, rows_ - radius_, upper_);
}

// Row by row and distance by distance, so that the inner loop goes along rows, which stay in the
// cache between distances.
void StencilShare::compute(size_t left, size_t right, size_t lower, size_t upper) {
  const size_t pitch = partition_.pitch();
  for (size_t row = lower; row < upper; ++row) {
    const double* const points = shared_.data() + partition_.at(0, row);
    double* __restrict const result = result_.data() + row * columns_;
    for (size_t distance = 1; distance <= radius_; ++distance) {
      const double weight = weights_[distance - 1];
      const double* const before = points - distance;
      const double* const behind = points + distance;
      const double* const below = points - distance * pitch;
      const double* const above = points + distance * pitch;
      for (size_t x = left; x < right; ++x) {
        result[x] += weight * ((behind[x] - before[x]) + (above[x] - below[x]));
      }
    }
  }
  if (left < right && lower < upper) {
    did((right - left) * (upper - lower), 5 * static_cast<double>(radius_), 24);
  }
}

void StencilShare::advance() {
  for (size_t row = 0; row < rows_; ++row) {
    double* const points = shared_.data() + partition_.at(0, row);
    for (size_t column = 0; column < columns_; ++column) points[column] += 1;
  }
  did(rows_ * columns_, 1, 16);
}

StencilShare::Sums StencilShare::sums(size_t iterations) const {
  const double expected = 2 * kStencilSlope * static_cast<double>(iterations);
  Sums sums;
  for (size_t row = lower_; row < upper_; ++row) {
    for (size_t column = left_; column < right_; ++column) {
      const double value = result_[row * columns_ + column];
      sums.sum += std::abs(value);
      // Also where it is not a number.
      if (!(std::abs(value - expected) <= kStencilTolerance)) ++sums.wrong_points;
    }
  }
  return sums;
}

}  // namespace stripline::suites::prk
