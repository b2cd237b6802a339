#include "optimizer/search/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <Eigen/Dense>

namespace stripline::search {
namespace {

// Lengths as shares of the extent of a dimension, and amplitudes as multiples of the observations'
// spread.
constexpr double kLengths[] = {0.2, 0.4, 0.8, 1.6, 3.2};
constexpr double kAmplitudes[] = {0.7, 1.4, 2.8};
// For matrices that rounding would make singular, relative to the amplitude.
constexpr double kJitter = 1e-8;

double matern(double distance) {
  const double r = std::sqrt(5.0) * distance;
  return (1 + r + r * r / 3) * std::exp(-r);
}

double scaled_distance(std::span<const double> a, std::span<const double> b,
                       const std::vector<double>& lengths) {
  double sum = 0;
  for (size_t d = 0; d < lengths.size(); ++d) {
    const double part = (a[d] - b[d]) / lengths[d];
    sum += part * part;
  }
  return std::sqrt(sum);
}

struct Trial {
  double likelihood = -std::numeric_limits<double>::infinity();
  std::vector<double> lengths;
  double amplitude2 = 0;
};

// Every combination of a length for each dimension.
std::vector<std::vector<double>> combinations(const std::vector<double>& extents) {
  std::vector<std::vector<double>> all = {{}};
  for (const double extent : extents) {
    std::vector<std::vector<double>> longer;
    for (const auto& some : all) {
      for (const double length : kLengths) {
        longer.push_back(some);
        longer.back().push_back(extent > 0 ? length * extent : 1);
        if (extent == 0) break;
      }
    }
    all = std::move(longer);
  }
  return all;
}

Eigen::MatrixXd covariance(std::span<const Observation> observations,
                           const std::vector<double>& lengths, double amplitude2) {
  const auto n = static_cast<Eigen::Index>(observations.size());
  Eigen::MatrixXd matrix(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Observation& a = observations[static_cast<size_t>(i)];
    for (Eigen::Index j = 0; j <= i; ++j) {
      const Observation& b = observations[static_cast<size_t>(j)];
      matrix(i, j) = matrix(j, i) = amplitude2 * matern(scaled_distance(a.at, b.at, lengths));
    }
    matrix(i, i) += a.variance + kJitter * amplitude2;
  }
  return matrix;
}

// The dimensions' extents; 0 where all observations agree.
std::vector<double> extents_of(std::span<const Observation> observations) {
  std::vector<double> extents;
  for (size_t d = 0; d < observations.front().at.size(); ++d) {
    double low = observations.front().at[d];
    double high = low;
    for (const Observation& one : observations) {
      low = std::min(low, one.at[d]);
      high = std::max(high, one.at[d]);
    }
    extents.push_back(high - low);
  }
  return extents;
}

bool is_finite(const Observation& one) {
  return std::isfinite(one.value) && std::isfinite(one.variance) && one.variance >= 0 &&
         std::ranges::all_of(one.at, [](double x) { return std::isfinite(x); });
}

}  // namespace

Result<GaussianProcess> GaussianProcess::fit(std::span<const Observation> observations) {
  if (observations.empty() || observations.size() > kMostObservations ||
      !std::ranges::all_of(observations, is_finite)) {
    return Error(ErrorCode::invalid_argument, "a Gaussian process takes 1 to " +
                                                  std::to_string(kMostObservations) +
                                                  " finite observations");
  }
  const auto n = static_cast<Eigen::Index>(observations.size());
  GaussianProcess process;
  double squares = 0;
  for (const Observation& one : observations) {
    process.places_.push_back(one.at);
    process.mean_ += one.value / static_cast<double>(n);
  }
  Eigen::VectorXd values(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    values(i) = observations[static_cast<size_t>(i)].value - process.mean_;
    squares += values(i) * values(i);
  }
  // Observations that agree say little of how others would differ.
  const double spread2 = std::max(squares / static_cast<double>(n), 1e-12);
  Trial best;
  for (const auto& lengths : combinations(extents_of(observations))) {
    for (const double amplitude : kAmplitudes) {
      const double amplitude2 = amplitude * amplitude * spread2;
      const Eigen::LLT<Eigen::MatrixXd> factored(covariance(observations, lengths, amplitude2));
      if (factored.info() != Eigen::Success) continue;
      double log_determinant = 0;
      for (Eigen::Index i = 0; i < n; ++i) log_determinant += std::log(factored.matrixLLT()(i, i));
      const double likelihood = -0.5 * values.dot(factored.solve(values)) - log_determinant;
      if (likelihood > best.likelihood) best = {likelihood, lengths, amplitude2};
    }
  }
  if (best.lengths.size() != observations.front().at.size() || best.amplitude2 == 0) {
    return Error(ErrorCode::internal, "a Gaussian process could not be computed");
  }
  process.lengths_ = best.lengths;
  process.amplitude2_ = best.amplitude2;
  const Eigen::LLT<Eigen::MatrixXd> factored(
      covariance(observations, best.lengths, best.amplitude2));
  const Eigen::VectorXd weights = factored.solve(values);
  const Eigen::MatrixXd lower = factored.matrixL();
  for (Eigen::Index i = 0; i < n; ++i) {
    process.weights_.push_back(weights(i));
    for (Eigen::Index j = 0; j < n; ++j) process.factor_.push_back(lower(i, j));
  }
  return process;
}

double GaussianProcess::kernel(std::span<const double> a, std::span<const double> b) const {
  return amplitude2_ * matern(scaled_distance(a, b, lengths_));
}

Prediction GaussianProcess::at(std::span<const double> place) const {
  const size_t n = places_.size();
  std::vector<double> solved(n);  // L^-1 k
  Prediction prediction{mean_, 0};
  double explained = 0;
  for (size_t i = 0; i < n; ++i) {
    const double k = kernel(place, places_[i]);
    prediction.mean += k * weights_[i];
    double rest = k;
    for (size_t j = 0; j < i; ++j) rest -= factor_[i * n + j] * solved[j];
    solved[i] = rest / factor_[i * n + i];
    explained += solved[i] * solved[i];
  }
  prediction.deviation = std::sqrt(std::max(0.0, amplitude2_ - explained));
  return prediction;
}

double expected_regret(double gap, double deviation) {
  if (!(deviation > 0)) return 0;
  const double z = gap / deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double tail = 0.5 * std::erfc(z / std::numbers::sqrt2);
  return std::max(0.0, deviation * density - gap * tail);
}

}  // namespace stripline::search
