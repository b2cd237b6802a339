#include "suites/kernels/nas/cg_share.h"

#include <algorithm>

#include "suites/compute_bodies.h"

namespace stripline::suites::nas {
namespace {

// With several partial sums, as `dot` has them: one alone is bound by the latency of the addition.
double sparse_dot(const double* __restrict value, const uint32_t* __restrict col, size_t n,
                  const double* __restrict x) {
  double s0 = 0;
  double s1 = 0;
  double s2 = 0;
  double s3 = 0;
  size_t k = 0;
  for (; k + 4 <= n; k += 4) {
    s0 += value[k] * x[col[k]];
    s1 += value[k + 1] * x[col[k + 1]];
    s2 += value[k + 2] * x[col[k + 2]];
    s3 += value[k + 3] * x[col[k + 3]];
  }
  for (; k < n; ++k) s0 += value[k] * x[col[k]];
  return (s0 + s1) + (s2 + s3);
}

}  // namespace

CgShare::CgShare(const CgProblem& problem, const CgPartition& partition, uint32_t me,
                 std::span<double> shared)
    : problem_(problem),
      partition_(partition),
      me_(me),
      rows_(partition.row_begin(partition.row_of(me) + 1) -
            partition.row_begin(partition.row_of(me))),
      cols_(partition.col_begin(partition.col_of(me) + 1) -
            partition.col_begin(partition.col_of(me))),
      shared_(shared),
      transpose_source_(partition.col_begin(partition.col_of(me)) -
                        partition.row_begin(partition.row_of(partition.transpose_partner(me)))),
      block_(make_cg_block(problem, partition.row_begin(partition.row_of(me)),
                           partition.row_begin(partition.row_of(me) + 1),
                           partition.col_begin(partition.col_of(me)),
                           partition.col_begin(partition.col_of(me) + 1))),
      x_(cols_),
      z_(cols_),
      r_(cols_),
      p_(cols_),
      operand_(p_.data()) {
  start();
}

void CgShare::multiply(size_t begin, size_t end) {
  double* const result = sums(0).data();
  const size_t* const start = block_.row_start.data();
  for (size_t i = begin; i < end; ++i) {
    result[i] = sparse_dot(block_.value.data() + start[i], block_.col.data() + start[i],
                           start[i + 1] - start[i], operand_);
  }
  did(start[end] - start[begin], 2, 12);
  did(end - begin, 0, 16);
}

void CgShare::add(size_t stage, size_t begin, size_t end, const double* __restrict theirs) {
  const double* const mine = sums(stage).data();
  double* const result = sums(stage + 1).data();
  for (size_t i = begin; i < end; ++i) result[i] = mine[i] + theirs[i - begin];
  did(end - begin, 1, 24);
}

void CgShare::start() { std::fill_n(x_.data(), cols_, 1.0); }

double CgShare::start_solution() {
  z_.clear();
  std::copy_n(x_.data(), cols_, r_.data());
  std::copy_n(x_.data(), cols_, p_.data());
  operand_ = p_.data();
  did(cols_, 2, 48);
  return dot(r_.data(), r_.data(), cols_);
}

double CgShare::direction_dot_product() {
  did(cols_, 2, 16);
  return dot(p_.data(), product().data(), cols_);
}

double CgShare::step(double alpha) {
  double* const __restrict z = z_.data();
  double* const __restrict r = r_.data();
  const double* const __restrict p = p_.data();
  const double* const __restrict q = product().data();
  for (size_t i = 0; i < cols_; ++i) {
    z[i] += alpha * p[i];
    r[i] -= alpha * q[i];
  }
  did(cols_, 6, 56);
  return dot(r, r, cols_);
}

void CgShare::turn(double beta) {
  double* const __restrict p = p_.data();
  const double* const __restrict r = r_.data();
  for (size_t i = 0; i < cols_; ++i) p[i] = r[i] + beta * p[i];
  did(cols_, 2, 24);
}

void CgShare::check_solution() { operand_ = z_.data(); }

double CgShare::residual() {
  const double* const q = product().data();
  double sum = 0;
  for (size_t i = 0; i < cols_; ++i) {
    const double difference = x_[i] - q[i];
    sum += difference * difference;
  }
  did(cols_, 3, 16);
  return sum;
}

CgShare::Norms CgShare::norms() const {
  did(cols_, 4, 24);
  return {dot(x_.data(), z_.data(), cols_), dot(z_.data(), z_.data(), cols_)};
}

void CgShare::next_vector(double scale) {
  for (size_t i = 0; i < cols_; ++i) x_[i] = scale * z_[i];
  did(cols_, 1, 16);
}

}  // namespace stripline::suites::nas
