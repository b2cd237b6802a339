// A Gaussian process over a few dimensions: what is measured at some places, predicted with its
// uncertainty at others. Pure.
//
// Kernel: Matern 5/2 with a length for each dimension, over a constant mean, with the variance of
// each observation beside it; amplitude and lengths are those of a grid under which the
// observations are likeliest (Rasmussen and Williams, Gaussian Processes for Machine Learning,
// chapters 2.2, 4.2, 5.4).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"

namespace stripline::search {

struct Observation {
  std::vector<double> at;  ///< Coordinates; all observations have as many.
  double value = 0;
  double variance = 0;  ///< Variance of the value's error.
};

struct Prediction {
  double mean = 0;
  double deviation = 0;  ///< Standard deviation of what would be measured without error.
};

/// Most observations that it takes: its time grows with their cube.
inline constexpr size_t kMostObservations = 400;

class GaussianProcess {
 public:
  /// Errors: invalid_argument without an observation, with more than kMostObservations, or with
  /// values that are not finite; internal where no grid point can be computed.
  static Result<GaussianProcess> fit(std::span<const Observation> observations);

  Prediction at(std::span<const double> place) const;

 private:
  GaussianProcess() = default;
  double kernel(std::span<const double> a, std::span<const double> b) const;

  std::vector<std::vector<double>> places_;
  std::vector<double> lengths_;
  double mean_ = 0;
  double amplitude2_ = 0;
  std::vector<double> weights_;  // K^-1 (y - mean)
  std::vector<double> factor_;   // the lower Cholesky factor of K, by rows
};

/// What is lost on average by choosing the better by its mean, of two whose difference is predicted
/// so: E max(0, -d) for d of this mean, at least 0, and this deviation.
double expected_regret(double gap, double deviation);

}  // namespace stripline::search
