#include "suites/kernels/prk/sparse_share.h"

#include <cmath>
#include <numeric>
#include <string>

namespace stripline::suites::prk {
namespace {

size_t reversed(size_t number, uint32_t bits) {
  size_t result = 0;
  for (uint32_t bit = 0; bit < bits; ++bit) {
    result = result << 1 | (number >> bit & 1);
  }
  return result;
}

}  // namespace

Result<SparsePartition> SparsePartition::create(const SparseSize& size, uint32_t ranks) {
  const SparsePartition partition(size, ranks);
  if (partition.rows() % ranks != 0) {
    return Error(ErrorCode::invalid_argument, std::to_string(ranks) + " ranks do not divide the " +
                                                  std::to_string(partition.rows()) +
                                                  " rows; start a power of two");
  }
  if (2 * size_t{size.radius} + 1 > size_t{1} << size.log2_size) {
    return Error(ErrorCode::invalid_argument,
                 "a star of radius " + std::to_string(size.radius) + " is wider than a grid of " +
                     std::to_string(size_t{1} << size.log2_size) + " points; make lsize larger");
  }
  return partition;
}

size_t SparsePartition::column_of(size_t i, size_t j) const {
  return reversed(i + (j << size_.log2_size), 2 * size_.log2_size);
}

void SparsePartition::for_columns(size_t row, const std::function<void(size_t)>& each) const {
  const size_t last = (size_t{1} << size_.log2_size) - 1;  // whose bits wrap a coordinate around
  const size_t i = row & last;
  const size_t j = row >> size_.log2_size;
  each(column_of(i, j));
  for (size_t distance = 1; distance <= size_.radius; ++distance) {
    each(column_of((i + distance) & last, j));
    each(column_of((i - distance) & last, j));
    each(column_of(i, (j + distance) & last));
    each(column_of(i, (j - distance) & last));
  }
}

SparseShare::SparseShare(const SparsePartition& partition, uint32_t me, std::span<double> shared)
    : partition_(partition),
      me_(me),
      shared_(shared),
      column_start_(partition.rows() + 1),
      row_(partition.rows_per_rank() * partition.row_entries()),
      value_(row_.size()),
      result_(partition.rows_per_rank()) {
  // By counting: how many entries the columns have, where they start, and then where each goes.
  const size_t rows = partition.rows_per_rank();
  const size_t first = me * rows;
  for (size_t row = 0; row < rows; ++row) {
    partition.for_columns(first + row, [&](size_t column) { ++column_start_[column + 1]; });
  }
  std::partial_sum(column_start_.begin(), column_start_.end(), column_start_.begin());
  std::vector<uint32_t> next = column_start_;
  for (size_t row = 0; row < rows; ++row) {
    partition.for_columns(first + row, [&](size_t column) {
      const uint32_t at = next[column]++;
      row_[at] = static_cast<uint32_t>(row);
      value_[at] = 1 / static_cast<double>(column + 1);
    });
  }
}

void SparseShare::start(uint64_t salt) {
  const size_t first = me_ * shared_.size() + 1;
  for (size_t i = 0; i < shared_.size(); ++i) {
    shared_[i] = static_cast<double>(salt * (first + i));
  }
  result_.clear();
}

void SparseShare::advance() {
  const size_t first = me_ * shared_.size() + 1;
  for (size_t i = 0; i < shared_.size(); ++i) shared_[i] += static_cast<double>(first + i);
  did(shared_.size(), 2, 16);
}

void SparseShare::multiply(uint32_t owner, size_t begin, size_t end,
                           const double* __restrict data) {
  const uint32_t* const start = column_start_.data() + owner * partition_.rows_per_rank();
  const uint32_t* const row = row_.data();
  const double* const value = value_.data();
  double* const result = result_.data();
  for (size_t column = begin; column < end; ++column) {
    const double factor = data[column - begin];
    for (uint32_t k = start[column]; k < start[column + 1]; ++k)
      result[row[k]] += value[k] * factor;
  }
  did(start[end] - start[begin], 2, 12);
  did(end - begin, 0, 12);
}

SparseShare::Sums SparseShare::sums(uint64_t salt, size_t iterations,
                                    const std::function<size_t(uint32_t owner)>& covered) const {
  const size_t rows = partition_.rows_per_rank();
  std::vector<size_t> covers(partition_.ranks());
  for (uint32_t owner = 0; owner < covers.size(); ++owner) covers[owner] = covered(owner);
  const size_t each = iterations * salt + iterations * (iterations + 1) / 2;
  Sums sums;
  for (size_t row = 0; row < rows; ++row) {
    size_t used = 0;  // entries
    partition_.for_columns(me_ * rows + row, [&](size_t column) {
      if (column % rows < covers[column / rows]) ++used;
    });
    const auto expected = static_cast<double>(each * used);
    // Also where it is not a number.
    if (!(std::abs(result_[row] - expected) <= kSparseRowTolerance * expected)) ++sums.wrong_rows;
    sums.sum += result_[row];
    sums.expected += expected;
  }
  return sums;
}

}  // namespace stripline::suites::prk
