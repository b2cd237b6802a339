#include "suites/kernels/prk/transpose_share.h"

#include <cmath>
#include <string>

#include "suites/kernels/row_tiles.h"

namespace stripline::suites::prk {

Result<TransposePartition> TransposePartition::create(size_t order, uint32_t ranks) {
  if (order == 0 || order % ranks != 0) {
    return Error(ErrorCode::invalid_argument, "n=" + std::to_string(order) +
                                                  " is not a multiple of the " +
                                                  std::to_string(ranks) + " ranks");
  }
  return TransposePartition(order, ranks);
}

TransposeShare::TransposeShare(const TransposePartition& partition, uint32_t me,
                               std::span<double> shared)
    : partition_(partition),
      me_(me),
      n_(partition.order()),
      m_(partition.columns()),
      shared_(shared),
      result_(m_ * n_) {}

void TransposeShare::start(uint64_t salt) {
  double* a = shared_.data();
  for (size_t reader = 0; reader < partition_.ranks(); ++reader) {
    for (size_t col = 0; col < m_; ++col) {
      for (size_t row = 0; row < m_; ++row) {
        *a++ = static_cast<double>(n_ * (me_ * m_ + col) + reader * m_ + row + salt);
      }
    }
  }
  result_.clear();
}

void TransposeShare::add(uint32_t owner, size_t begin, size_t end, const double* __restrict data) {
  const auto tile = [&](size_t first, size_t columns, size_t row, size_t rows, size_t offset) {
    double* __restrict corner = result_.data() + row * n_ + owner * m_ + first;
    const double* const source = data + offset;
    const size_t column_length = columns == 1 ? rows : m_;
    for (size_t j = 0; j < rows; ++j) {
      for (size_t i = 0; i < columns; ++i) corner[j * n_ + i] += source[i * column_length + j];
    }
  };
  for_row_tiles(begin, end, m_, kTileColumns, tile);
  did(end - begin, 1, 24);
}

void TransposeShare::advance() {
  for (double& element : shared_) element += 1;
  did(shared_.size(), 1, 16);
}

double TransposeShare::error(uint32_t owner, uint64_t salt, size_t iterations,
                             size_t elements) const {
  double sum = 0;
  const size_t later = iterations * (iterations - 1) / 2;
  for (size_t j = 0; j < m_; ++j) {
    for (size_t i = 0; i < m_; ++i) {
      const size_t first = n_ * (owner * m_ + i) + me_ * m_ + j + salt;
      const bool covered = i * m_ + j < elements;
      const auto expected = static_cast<double>(covered ? first * iterations + later : 0);
      sum += std::abs(result_[j * n_ + owner * m_ + i] - expected);
    }
  }
  return sum;
}

}  // namespace stripline::suites::prk
